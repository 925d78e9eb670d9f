package io.github.reactivelock;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Pattern;

/** A listener that writes down what it is told of each request, and knows which stories may be told. */
public final class Stories implements LockListener {

    private static final Pattern COMPLETE =
            Pattern.compile("waiting( timedOut| cancelled| unavailable| busy|( passed)? acquired( renewalFailed| atRisk"
                    + "| safeAgain)*( released| lost| releaseFailed))");

    public final Map<LockRequest, List<String>> told = new ConcurrentHashMap<>();
    /** The same, over all requests, with what belongs to the event. */
    public final List<String> log = new ArrayList<>();

    /** That of each request, in the order of the requests' first events only if there is one. */
    public List<String> stories() {
        return told.values().stream().map(events -> String.join(" ", events)).toList();
    }

    public boolean areComplete() {
        return stories().stream().allMatch(story -> COMPLETE.matcher(story).matches());
    }

    public void assertAllAreComplete() {
        assertThat(stories()).allMatch(story -> COMPLETE.matcher(story).matches());
    }

    private void note(LockRequest request, String event, Object detail) {
        told.computeIfAbsent(request, first -> new CopyOnWriteArrayList<>()).add(event);
        synchronized (log) {
            log.add(request.key() + " " + event + " " + detail);
        }
    }

    @Override
    public void waiting(LockRequest request) {
        note(request, "waiting", request.context().getOrDefault("trace", "none"));
    }

    @Override
    public void acquired(LockRequest request, long fencingToken, Duration waited) {
        note(request, "acquired", waited);
    }

    @Override
    public void passed(LockRequest request, long fencingToken) {
        note(request, "passed", fencingToken);
    }

    @Override
    public void timedOut(LockRequest request, LockTimeoutException timeout) {
        note(request, "timedOut", timeout.getMessage());
    }

    @Override
    public void cancelled(LockRequest request) {
        note(request, "cancelled", "");
    }

    @Override
    public void unavailable(LockRequest request, LockException failure) {
        note(request, "unavailable", failure.getClass().getSimpleName());
    }

    @Override
    public void busy(LockRequest request) {
        note(request, "busy", "");
    }

    @Override
    public void renewalFailed(LockRequest request, long fencingToken, Throwable cause) {
        note(request, "renewalFailed", cause.getMessage());
    }

    @Override
    public void atRisk(LockRequest request, long fencingToken, HoldState.AtRisk risk) {
        note(request, "atRisk", risk.remaining() + " " + (risk.cause() == null ? "no cause" : "a cause"));
    }

    @Override
    public void safeAgain(LockRequest request, long fencingToken) {
        note(request, "safeAgain", fencingToken);
    }

    @Override
    public void released(LockRequest request, long fencingToken, Duration held) {
        note(request, "released", held);
    }

    @Override
    public void lost(LockRequest request, LockLostException loss) {
        note(request, "lost", loss.reason());
    }

    @Override
    public void releaseFailed(LockRequest request, LockUnavailableException failure) {
        note(request, "releaseFailed", "");
    }
}
