package io.github.reactivelock.consul;

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
    void begin(ClaimState state, Entry key) {
        state.endBy(afterALease(state.claim, () -> expire(state, key)));
    }

    /** Ends the wait when the claim's lease is over from now on, if it is not asked about again. */
    void beginWait(ClaimState state, Entry key) {
        state.endWaitBy(afterALease(state.claim, () -> {
            if (state.dropped(key)) {
                remove(key);
            }
        }));
    }

    private static Disposable afterALease(Claim claim, Runnable end) {
        return FireAndForget.cancellable(
                "ending a claim whose lease ran out",
                Mono.delay(claim.lease(), DriverThreads.timer()).doOnNext(now -> end.run()));
    }

    private void expire(ClaimState state, Entry key) {
        if (state.vanished(key, LossReason.EXPIRED)) {
            pushes.push(new Signal.Suspect(state.claim.id(), LossReason.EXPIRED));
            remove(key);
        }
    }

    /** One that was overwritten by a stranger is removed as well: it would be taken for a holder's. */
    void remove(Entry key) {
        FireAndForget.run("removing an expired claim", removals.remove(key));
    }
}
