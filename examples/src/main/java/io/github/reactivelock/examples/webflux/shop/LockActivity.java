package io.github.reactivelock.examples.webflux.shop;

import io.github.reactivelock.HoldState;
import io.github.reactivelock.LockException;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockListener;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockRequest;
import io.github.reactivelock.LockTimeoutException;
import io.github.reactivelock.LockUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Hears what the locks of this instance do, because every {@link LockListener} bean does. For use from any thread. */
@Component
final class LockActivity implements LockListener {

    private static final int KEPT = 24;

    /** A burst of changes is one message; and the metrics, which another listener records, have caught up. */
    private static final Duration PAUSE = Duration.ofMillis(30);

    private final LockMetrics metrics;
    private final AtomicInteger numbers = new AtomicInteger();
    private final Map<LockRequest, LockUse> uses = new ConcurrentHashMap<>();
    private final Deque<LockUse> over = new ConcurrentLinkedDeque<>();
    private final Sinks.Many<Boolean> changes = Sinks.many().replay().latest();

    LockActivity(LockMetrics metrics) {
        this.metrics = metrics;
        changed();
    }

    /** Now, and again after each change; a slow reader skips to the latest. */
    Flux<Activity> live() {
        return changes.asFlux()
                .onBackpressureLatest()
                .concatMap(change -> Mono.delay(PAUSE).map(later -> now()), 0);
    }

    private Activity now() {
        List<LockUse> all = new ArrayList<>(uses.values());
        all.addAll(over);
        return new Activity(all, metrics.now());
    }

    /** The work under a hold is over; the lock goes to the next one after this. */
    void workEnded(LockHandle held) {
        uses.replaceAll((request, use) ->
                use.token() == held.fencingToken() && use.key().equals(held.key()) ? use.workEnded() : use);
    }

    @Override
    public void waiting(LockRequest request) {
        uses.put(request, LockUse.waits(numbers.incrementAndGet(), request.key()));
        changed();
    }

    @Override
    public void acquired(LockRequest request, long fencingToken, Duration waited) {
        change(request, use -> use.holds(fencingToken));
    }

    @Override
    public void atRisk(LockRequest request, long fencingToken, HoldState.AtRisk risk) {
        change(request, use -> use.in(LockUse.State.AT_RISK));
    }

    @Override
    public void safeAgain(LockRequest request, long fencingToken) {
        change(request, use -> use.in(LockUse.State.HOLDS));
    }

    @Override
    public void released(LockRequest request, long fencingToken, Duration held) {
        end(request, use -> use.workEnded().in(LockUse.State.RELEASED));
    }

    @Override
    public void lost(LockRequest request, LockLostException loss) {
        end(request, use -> use.lost(loss.reason().text()));
    }

    @Override
    public void releaseFailed(LockRequest request, LockUnavailableException failure) {
        end(request, use -> use.lost("its release was not confirmed"));
    }

    @Override
    public void timedOut(LockRequest request, LockTimeoutException timeout) {
        left(request);
    }

    @Override
    public void cancelled(LockRequest request) {
        left(request);
    }

    @Override
    public void unavailable(LockRequest request, LockException failure) {
        left(request);
    }

    @Override
    public void busy(LockRequest request) {
        left(request);
    }

    private void change(LockRequest request, UnaryOperator<LockUse> how) {
        uses.computeIfPresent(request, (same, use) -> how.apply(use));
        changed();
    }

    private void end(LockRequest request, UnaryOperator<LockUse> how) {
        LockUse held = uses.remove(request);
        if (held != null) {
            over.addFirst(how.apply(held));
            while (over.size() > KEPT) {
                over.pollLast();
            }
        }
        changed();
    }

    private void left(LockRequest request) {
        uses.remove(request);
        changed();
    }

    /** If another thread tells of a change in this moment, that is enough: readers look only after the pause. */
    private void changed() {
        changes.tryEmitNext(true);
    }
}
