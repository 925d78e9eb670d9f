package io.github.reactivelock.consul;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.state.LossReason;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * What this client knows of one claim's key. Every answer of Consul shows the key with the index of its making, so that
 * an old answer is not taken for news of a key that was made anew. Guarded by itself; nothing slow happens inside.
 *
 * <pre>
 * stage      the key                  leaves on
 * entering   may be there             seen -> waiting; leave -> left
 * waiting    was there                fits in -> owner; vanished -> entering; leave -> left
 * owner      was there, in            vanished, ended -> lost; leave -> left
 * lost       is not ours any more     claimed again -> entering; leave -> left
 * left       is being deleted
 * </pre>
 */
final class ClaimState {

    /** To follow instead of a key; none is called so. */
    static final String THE_LINE = "";

    private enum Stage {
        ENTERING,
        WAITING,
        OWNER,
        LOST,
        LEFT
    }

    /** A watch on a key before this one, or on the whole line. */
    private record Following(String obstacle, Disposable.Swap watch) {}

    final Claim claim;
    private Stage stage = Stage.ENTERING;
    private @Nullable Entry key;
    /** A question that makes a key may still be on its way, although it got no answer. */
    private boolean doubted;

    private @Nullable Mono<Keys.Entered> entering;
    private @Nullable Following following;
    private LossReason reason = LossReason.EXPIRED;
    /** It was given up, and may be there until its deletion arrives. */
    private @Nullable Entry givenUp;

    private final Disposable.Swap end = Disposables.swap();

    /** Completes when the present key is not to be relied upon any more: it was deleted, lost or given up. */
    private Sinks.Empty<Void> over = Sinks.empty();

    ClaimState(Claim claim) {
        this.claim = claim;
    }

    synchronized @Nullable Entry key() {
        return key;
    }

    synchronized boolean isOwner() {
        return stage == Stage.OWNER;
    }

    /** Whether a key of this claim may come to be after the claim's end. */
    synchronized boolean isDoubted() {
        return doubted;
    }

    /** Whether a key of this claim may be there that must not be taken for its own. */
    synchronized boolean hasGivenUp() {
        return givenUp != null;
    }

    /** It was the owner and is not any more, why, or null if that is not so. */
    synchronized @Nullable LossReason loss() {
        return stage == Stage.LOST ? reason : null;
    }

    /** The one making under way, begun if there is none; null if no key must be made any more. */
    synchronized @Nullable Mono<Keys.Entered> enter(Supplier<Mono<Keys.Entered>> making) {
        if (stage != Stage.ENTERING) {
            return null;
        }
        if (entering == null) {
            entering = making.get();
        }
        return entering;
    }

    /** The making under way. */
    synchronized @Nullable Mono<Keys.Entered> entering() {
        return entering;
    }

    /** The making under way has ended without telling whether there is a key. */
    synchronized void failed() {
        entering = null;
        doubted = true;
    }

    /** The same question may be carried out once more. */
    synchronized void doubt() {
        doubted = true;
    }

    /** The key is there; false if the claim has ended, or has given this key up. */
    synchronized boolean seen(Entry made) {
        entering = null;
        if (givenUp != null && made.isSameAs(givenUp)) {
            return false;
        }
        if (stage == Stage.ENTERING || stage == Stage.WAITING) {
            stage = Stage.WAITING;
            if (key == null || !made.isSameAs(key)) {
                over = Sinks.empty();
            }
            key = made;
            return true;
        }
        return stage == Stage.OWNER && key != null && made.isSameAs(key);
    }

    /** The key fits in; false if that is no news of ours. */
    boolean own(Entry known) {
        Disposable watch;
        synchronized (this) {
            if (!isOurs(known) || (stage != Stage.WAITING && stage != Stage.OWNER)) {
                return false;
            }
            if (stage == Stage.WAITING) {
                endBy(Disposables.disposed());
            }
            stage = Stage.OWNER;
            watch = stopFollowing();
        }
        watch.dispose();
        return true;
    }

    private boolean isOurs(Entry known) {
        return key != null && known.isSameAs(key);
    }

    /** Somebody asks about the claim: until the answer, nothing ends its wait. */
    synchronized void asked() {
        if (stage != Stage.OWNER) {
            endBy(Disposables.disposed());
        }
    }

    /** What is going to end the wait, if it goes on. */
    synchronized void endWaitBy(Disposable timer) {
        if (stage == Stage.WAITING) {
            endBy(timer);
        } else {
            timer.dispose();
        }
    }

    /** The key is not there any more, or not as it should be; false if that is no news of ours. */
    boolean vanished(Entry known, LossReason why) {
        return vanished(known, why, true);
    }

    /** No question about the waiting claim came for the length of a lease; false if it does not wait any more. */
    boolean dropped(Entry known) {
        return vanished(known, LossReason.EXPIRED, false);
    }

    private boolean vanished(Entry known, LossReason why, boolean evenIfOwned) {
        Disposable watch;
        boolean owned;
        synchronized (this) {
            if (!isOurs(known) || (stage != Stage.WAITING && (stage != Stage.OWNER || !evenIfOwned))) {
                return false;
            }
            givenUp = known;
            owned = stage == Stage.OWNER;
            if (owned) {
                stage = Stage.LOST;
                reason = why;
            } else {
                stage = Stage.ENTERING;
                key = null;
            }
            watch = stopFollowing();
        }
        watch.dispose();
        if (owned) {
            endBy(Disposables.disposed());
        }
        over();
        return true;
    }

    /** What waits behind this key is to look again. */
    void over() {
        Sinks.Empty<Void> known;
        synchronized (this) {
            known = over;
        }
        known.tryEmitEmpty();
    }

    /** Completes when a key of this client is over; null if this claim does not have it. */
    synchronized @Nullable Mono<Void> untilOver(Entry known) {
        return isOurs(known) && (stage == Stage.WAITING || stage == Stage.OWNER) ? over.asMono() : null;
    }

    /**
     * A client that claims does not believe that it has the lock, so a grant that was lost does not block a new one.
     */
    synchronized void claimed() {
        if (stage == Stage.LOST) {
            stage = Stage.ENTERING;
            key = null;
        }
    }

    /** The claim ends; whether it was the owner. */
    boolean leave() {
        boolean owner;
        Disposable watch;
        synchronized (this) {
            owner = stage == Stage.OWNER;
            stage = Stage.LEFT;
            watch = stopFollowing();
        }
        watch.dispose();
        end.dispose();
        return owner;
    }

    /** Replaces what is going to end the hold. */
    void endBy(Disposable timer) {
        end.update(timer);
    }

    /** Where to put the one watch there is; null if this is watched already or need not be. */
    Disposable.@Nullable Swap follow(String obstacle) {
        Disposable earlier;
        Following begun;
        synchronized (this) {
            if (stage != Stage.WAITING || (following != null && following.obstacle.equals(obstacle))) {
                return null;
            }
            earlier = stopFollowing();
            begun = new Following(obstacle, Disposables.swap());
            following = begun;
        }
        earlier.dispose();
        return begun.watch;
    }

    synchronized void followed(Disposable.Swap watch) {
        if (following != null && following.watch == watch) {
            following = null;
        }
    }

    private Disposable stopFollowing() {
        Following stopped = following;
        following = null;
        return stopped == null ? Disposables.disposed() : stopped.watch;
    }

    IllegalStateException ended() {
        return new IllegalStateException(
                "the claim ended or lost its key before Consul answered; ask again for '" + claim.key() + "'");
    }
}
