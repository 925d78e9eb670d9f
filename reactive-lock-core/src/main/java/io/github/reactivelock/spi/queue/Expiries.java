package io.github.reactivelock.spi.queue;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.FireAndForget;
import io.github.reactivelock.state.LossReason;
import java.util.function.Consumer;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * The ends of what would live as long as the session: holds that are not renewed for a lease, as they were meant to be
 * or were not, and claims that wait and that are not asked about any more. Safe for use from any thread.
 *
 * @param <P> a place in the queue
 * @param <E> a claim's entry
 */
public final class Expiries<P extends Place, E extends ClaimEntry<P>> {

    private final Entries<P, E> entries;
    private final Consumer<Signal> pushes;

    /**
     * None yet.
     *
     * @param entries removes those that are over
     * @param pushes gets the losses of holds
     */
    public Expiries(Entries<P, E> entries, Consumer<Signal> pushes) {
        this.entries = entries;
        this.pushes = pushes;
    }

    /**
     * Ends the hold when its lease is over from now on, if this is not called again before.
     *
     * @param state owns the lock
     * @param entry of the hold
     */
    public void begin(QueuedClaim<P, E> state, E entry) {
        state.endBy(afterALease(state.claim(), () -> {
            if (state.vanished(entry, LossReason.EXPIRED)) {
                pushes.accept(new Signal.Suspect(state.claim().id(), LossReason.EXPIRED));
                remove(entry);
            }
        }));
    }

    /**
     * Ends the wait when the claim's lease is over from now on, if it is not asked about again.
     *
     * @param state waits
     * @param entry of the claim
     */
    public void beginWait(QueuedClaim<P, E> state, E entry) {
        state.endWaitBy(afterALease(state.claim(), () -> {
            if (state.dropped(entry)) {
                remove(entry);
            }
        }));
    }

    private static Disposable afterALease(Claim claim, Runnable end) {
        return FireAndForget.cancellable(
                "ending a claim whose lease ran out",
                Mono.delay(claim.lease(), DriverThreads.timer()).doOnNext(now -> end.run()));
    }

    /**
     * The session that keeps an entry has ended, and its client does not know it yet.
     *
     * @param state of the claim
     * @param entry that the session kept
     */
    public void sessionEnded(QueuedClaim<P, E> state, E entry) {
        if (state.vanished(entry, LossReason.SESSION_LOST)) {
            String id = state.claim().id();
            pushes.accept(
                    state.loss() == null
                            ? new Signal.RecheckClaim(id)
                            : new Signal.Suspect(id, LossReason.SESSION_LOST));
        }
    }

    /**
     * Removes an entry that is no claim's any more, now or later.
     *
     * @param entry would be taken for a holder's
     */
    public void remove(E entry) {
        FireAndForget.run("removing an expired claim", entries.remove(entry));
    }
}
