package io.github.reactivelock.testkit;

import io.github.reactivelock.HoldState;
import io.github.reactivelock.LockException;
import io.github.reactivelock.LockListener;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockRequest;
import io.github.reactivelock.LockTimeoutException;
import io.github.reactivelock.LockUnavailableException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

/** A listener that writes down the events of each request, and knows which stories are possible. */
final class Stories implements LockListener {

    private static final Pattern COMPLETE =
            Pattern.compile("waiting( timedOut| cancelled| unavailable| busy|( passed)? acquired( renewalFailed| atRisk"
                    + "| safeAgain)*( released| lost| releaseFailed))");

    private final Map<LockRequest, String> told = new ConcurrentHashMap<>();

    /** One for each request, its events with a space in between. */
    List<String> all() {
        return List.copyOf(told.values());
    }

    Set<LockRequest> requests() {
        return told.keySet();
    }

    boolean areComplete() {
        return all().stream().allMatch(story -> COMPLETE.matcher(story).matches());
    }

    private void note(LockRequest request, String event) {
        told.merge(request, event, (before, next) -> before + " " + next);
    }

    @Override
    public void waiting(LockRequest request) {
        note(request, "waiting");
    }

    @Override
    public void acquired(LockRequest request, long fencingToken, Duration waited) {
        note(request, "acquired");
    }

    @Override
    public void passed(LockRequest request, long fencingToken) {
        note(request, "passed");
    }

    @Override
    public void timedOut(LockRequest request, LockTimeoutException timeout) {
        note(request, "timedOut");
    }

    @Override
    public void cancelled(LockRequest request) {
        note(request, "cancelled");
    }

    @Override
    public void unavailable(LockRequest request, LockException failure) {
        note(request, "unavailable");
    }

    @Override
    public void busy(LockRequest request) {
        note(request, "busy");
    }

    @Override
    public void renewalFailed(LockRequest request, long fencingToken, Throwable cause) {
        note(request, "renewalFailed");
    }

    @Override
    public void atRisk(LockRequest request, long fencingToken, HoldState.AtRisk risk) {
        note(request, "atRisk");
    }

    @Override
    public void safeAgain(LockRequest request, long fencingToken) {
        note(request, "safeAgain");
    }

    @Override
    public void released(LockRequest request, long fencingToken, Duration held) {
        note(request, "released");
    }

    @Override
    public void lost(LockRequest request, LockLostException loss) {
        note(request, "lost");
    }

    @Override
    public void releaseFailed(LockRequest request, LockUnavailableException failure) {
        note(request, "releaseFailed");
    }
}
