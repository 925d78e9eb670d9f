package io.github.reactivelock.spring.boot;

import io.github.reactivelock.HoldState;
import io.github.reactivelock.LockException;
import io.github.reactivelock.LockListener;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockRequest;
import io.github.reactivelock.LockTimeoutException;
import io.github.reactivelock.LockUnavailableException;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Several listeners as one. What one of them throws is logged, and keeps nothing from the others. */
final class LockListeners implements LockListener {

    private static final Logger log = LoggerFactory.getLogger(LockListeners.class);

    private final List<LockListener> all;

    LockListeners(List<LockListener> all) {
        this.all = List.copyOf(all);
    }

    private void tell(Consumer<LockListener> event) {
        for (LockListener listener : all) {
            try {
                event.accept(listener);
            } catch (Throwable thrown) { // an Error too, as of a class that is missing
                log.warn("the lock listener {} failed; the others hear of the event", listener, thrown);
            }
        }
    }

    @Override
    public void waiting(LockRequest request) {
        tell(listener -> listener.waiting(request));
    }

    @Override
    public void acquired(LockRequest request, long fencingToken, Duration waited) {
        tell(listener -> listener.acquired(request, fencingToken, waited));
    }

    @Override
    public void passed(LockRequest request, long fencingToken) {
        tell(listener -> listener.passed(request, fencingToken));
    }

    @Override
    public void retentionHit(LockRequest request) {
        tell(listener -> listener.retentionHit(request));
    }

    @Override
    public void retentionMissed(LockRequest request) {
        tell(listener -> listener.retentionMissed(request));
    }

    @Override
    public void recalled(String key) {
        tell(listener -> listener.recalled(key));
    }

    @Override
    public void timedOut(LockRequest request, LockTimeoutException timeout) {
        tell(listener -> listener.timedOut(request, timeout));
    }

    @Override
    public void cancelled(LockRequest request) {
        tell(listener -> listener.cancelled(request));
    }

    @Override
    public void unavailable(LockRequest request, LockException failure) {
        tell(listener -> listener.unavailable(request, failure));
    }

    @Override
    public void busy(LockRequest request) {
        tell(listener -> listener.busy(request));
    }

    @Override
    public void renewalFailed(LockRequest request, long fencingToken, Throwable cause) {
        tell(listener -> listener.renewalFailed(request, fencingToken, cause));
    }

    @Override
    public void atRisk(LockRequest request, long fencingToken, HoldState.AtRisk risk) {
        tell(listener -> listener.atRisk(request, fencingToken, risk));
    }

    @Override
    public void safeAgain(LockRequest request, long fencingToken) {
        tell(listener -> listener.safeAgain(request, fencingToken));
    }

    @Override
    public void released(LockRequest request, long fencingToken, Duration held) {
        tell(listener -> listener.released(request, fencingToken, held));
    }

    @Override
    public void lost(LockRequest request, LockLostException loss) {
        tell(listener -> listener.lost(request, loss));
    }

    @Override
    public void releaseFailed(LockRequest request, LockUnavailableException failure) {
        tell(listener -> listener.releaseFailed(request, failure));
    }
}
