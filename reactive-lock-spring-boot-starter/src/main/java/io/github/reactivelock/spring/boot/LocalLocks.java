package io.github.reactivelock.spring.boot;

import io.github.reactivelock.LockException;
import io.github.reactivelock.LockListener;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockRequest;
import io.github.reactivelock.LockTimeoutException;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.spi.SignalsRefusedException;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What this process holds and waits for, and whether it has asked for any lock at all. Safe for use from any thread.
 */
final class LocalLocks implements LockListener {

    /**
     * A wait or a hold.
     *
     * @param key the lock's key
     * @param fencingToken 0 for a wait
     * @param since when it began, by the wall clock of this process
     * @param request tells how long a hold may be relied upon
     */
    record Local(String key, long fencingToken, Instant since, LockRequest request) {

        boolean isHeld() {
            return fencingToken != 0;
        }
    }

    /** The store refused to push to this process, so no claim gets news of its grant. */
    private record Refusal(LockException failure, Instant at, Duration counts) {}

    private final Map<LockRequest, Local> all = new ConcurrentHashMap<>();
    private volatile boolean asked;
    private volatile @Nullable Refusal refusal;

    /** {@return whether any lock was ever asked for} */
    boolean wasAsked() {
        return asked;
    }

    /** {@return why locks that are taken cannot be waited for; null if no wait failed so within the last lease} */
    @Nullable
    LockException refusal() {
        Refusal last = refusal;
        return last == null || last.at.plus(last.counts).isBefore(Instant.now()) ? null : last.failure;
    }

    /** What is held, the oldest first. */
    List<Local> held() {
        return sorted(Local::isHeld);
    }

    /** What is waited for, the oldest first. */
    List<Local> waiting() {
        return sorted(local -> !local.isHeld());
    }

    private List<Local> sorted(Predicate<Local> kind) {
        return all.values().stream()
                .filter(kind)
                .sorted(Comparator.comparing(Local::since))
                .toList();
    }

    @Override
    public void waiting(LockRequest request) {
        asked = true;
        begin(request, 0);
    }

    @Override
    public void acquired(LockRequest request, long fencingToken, Duration waited) {
        begin(request, fencingToken);
    }

    private void begin(LockRequest request, long fencingToken) {
        all.put(request, new Local(request.key(), fencingToken, Instant.now(), request));
    }

    private void end(LockRequest request) {
        all.remove(request);
    }

    @Override
    public void timedOut(LockRequest request, LockTimeoutException timeout) {
        end(request);
    }

    @Override
    public void cancelled(LockRequest request) {
        end(request);
    }

    @Override
    public void unavailable(LockRequest request, LockException failure) {
        end(request);
        for (Throwable cause = failure.getCause(); cause != null; cause = cause.getCause()) {
            if (cause instanceof SignalsRefusedException) {
                refusal = new Refusal(failure, Instant.now(), request.options().lease());
            }
        }
    }

    @Override
    public void busy(LockRequest request) {
        end(request);
    }

    @Override
    public void released(LockRequest request, long fencingToken, Duration held) {
        end(request);
    }

    @Override
    public void lost(LockRequest request, LockLostException loss) {
        end(request);
    }

    @Override
    public void releaseFailed(LockRequest request, LockUnavailableException failure) {
        end(request);
    }
}
