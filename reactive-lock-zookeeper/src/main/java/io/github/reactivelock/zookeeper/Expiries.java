package io.github.reactivelock.zookeeper;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.FireAndForget;
import io.github.reactivelock.state.LossReason;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * The ends of what would live as long as the session: holds that are not renewed for a lease, as they were meant to be
 * or were not, and claims that wait and that are not asked about any more.
 */
final class Expiries {

    private final Removals removals;
    private final SignalSink pushes;

    Expiries(Removals removals, SignalSink pushes) {
        this.removals = removals;
        this.pushes = pushes;
    }

    /** Ends the hold when its lease is over from now on, if it is not renewed. */
    void begin(ClaimState state, Node node) {
        state.endBy(afterALease(state.claim, () -> expire(state, node)));
    }

    /** Ends the wait when the claim's lease is over from now on, if it is not asked about again. */
    void beginWait(ClaimState state, Node node) {
        state.endWaitBy(afterALease(state.claim, () -> {
            if (state.dropped(node)) {
                remove(node);
            }
        }));
    }

    private static Disposable afterALease(Claim claim, Runnable end) {
        return FireAndForget.cancellable(
                "ending a claim whose lease ran out",
                Mono.delay(claim.lease(), DriverThreads.timer()).doOnNext(now -> end.run()));
    }

    private void expire(ClaimState state, Node node) {
        if (state.vanished(node, LossReason.EXPIRED)) {
            pushes.push(new Signal.Suspect(state.claim.id(), LossReason.EXPIRED));
            remove(node);
        }
    }

    private void remove(Node node) {
        FireAndForget.run("removing an expired claim", removals.remove(node));
    }
}
