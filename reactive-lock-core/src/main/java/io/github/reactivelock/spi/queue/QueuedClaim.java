package io.github.reactivelock.spi.queue;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.state.LossReason;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * What this client knows of one claim's entry. News names the entry that it speaks of. Guarded by itself; nothing slow
 * happens inside.
 *
 * <pre>
 * stage      the entry                leaves on
 * entering   may be there             seen -> waiting; leave -> left
 * waiting    was there                fits in -> owner; vanished -> entering; leave -> left
 * owner      was there, in            vanished, ended -> lost; leave -> left
 * lost       is not ours any more     claimed again -> entering; leave -> left
 * left       is being removed
 * </pre>
 *
 * @param <P> a place in the queue
 * @param <E> a claim's entry
 */
public abstract class QueuedClaim<P extends Place, E> {

    /** To follow instead of a place; none is called so. */
    private static final String THE_LINE = "";

    private enum Stage {
        ENTERING,
        WAITING,
        OWNER,
        LOST,
        LEFT
    }

    /** A watch on a place before this one, or on the whole queue. */
    private record Following(String obstacle, Disposable.Swap watch) {}

    private final Claim claim;
    private Stage stage = Stage.ENTERING;
    private @Nullable E entry;
    /** An entry of this claim may be there besides the one that is known. */
    private boolean uncertain;

    private @Nullable Mono<Entered<P, E>> entering;
    private @Nullable Following following;
    private LossReason reason = LossReason.EXPIRED;
    /** It was given up, and may be there until its removal arrives. */
    private @Nullable E givenUp;
    /** What waits for the end of the present entry, if anything does. */
    private Sinks.@Nullable Empty<Void> over;

    private final Disposable.Swap end = Disposables.swap();

    /**
     * A claim without an entry.
     *
     * @param claim as it was made
     */
    protected QueuedClaim(Claim claim) {
        this.claim = claim;
    }

    /** {@return the claim} */
    public final Claim claim() {
        return claim;
    }

    /** {@return the entry that is known, or null} */
    public final synchronized @Nullable E entry() {
        return entry;
    }

    /** {@return whether it holds the lock} */
    public final synchronized boolean isOwner() {
        return stage == Stage.OWNER;
    }

    /** {@return the name of the one place that it waits for, whose end is certain to be noticed, or null} */
    public final synchronized @Nullable String followedPlace() {
        return stage == Stage.WAITING && following != null && !following.obstacle.equals(THE_LINE)
                ? following.obstacle
                : null;
    }

    /** {@return whether an entry of this claim may be there besides the one that is known} */
    public final synchronized boolean isUncertain() {
        return uncertain;
    }

    /** {@return whether an entry of this claim may be there that must not be taken for its own} */
    public final synchronized boolean hasGivenUp() {
        return givenUp != null;
    }

    /** {@return if it was the owner and is not any more, why; else null} */
    public final synchronized @Nullable LossReason loss() {
        return stage == Stage.LOST ? reason : null;
    }

    /**
     * The one making of an entry that is under way.
     *
     * @param making begun if there is none
     * @return null if no entry must be made any more
     */
    public final synchronized @Nullable Mono<Entered<P, E>> enter(Supplier<Mono<Entered<P, E>>> making) {
        if (stage != Stage.ENTERING) {
            return null;
        }
        if (entering == null) {
            entering = making.get();
        }
        return entering;
    }

    /** {@return whether an entry that is made now is wanted} */
    public final synchronized boolean mayEnter() {
        return stage == Stage.ENTERING;
    }

    /** {@return the making under way, or null} */
    public final synchronized @Nullable Mono<Entered<P, E>> entering() {
        return entering;
    }

    /** The making under way has ended without telling whether there is an entry. */
    public synchronized void failed() {
        entering = null;
        uncertain = true;
    }

    /** The making under way has ended, and made no entry. */
    public synchronized void notMade() {
        entering = null;
    }

    /**
     * An entry is there.
     *
     * @param made is the claim's from now on, if it waits for one
     * @return false if the claim has ended, or has given this entry up
     */
    public final boolean seen(E made) {
        Sinks.Empty<Void> former;
        synchronized (this) {
            entering = null;
            if (made.equals(givenUp)) {
                return false;
            }
            if (stage != Stage.ENTERING && stage != Stage.WAITING) {
                return stage == Stage.OWNER && made.equals(entry);
            }
            former = made.equals(entry) ? null : stopBeingAwaited();
            stage = Stage.WAITING;
            entry = made;
            uncertain = false;
        }
        complete(former);
        return true;
    }

    /** Entries are there besides the one that is known. */
    public final synchronized void doubted() {
        uncertain = true;
    }

    /**
     * No entry is there but one.
     *
     * @param known null if there is none at all
     */
    public final synchronized void settled(@Nullable E known) {
        if (Objects.equals(known, entry)) {
            uncertain = false;
        }
    }

    /**
     * The entry fits in.
     *
     * @param known the entry
     * @return false if that is no news of ours
     */
    public final boolean own(E known) {
        Disposable watch;
        synchronized (this) {
            if (!known.equals(entry) || (stage != Stage.WAITING && stage != Stage.OWNER)) {
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

    /** The claim is being asked about: until the answer, nothing ends its wait. */
    public final synchronized void asked() {
        if (stage != Stage.OWNER) {
            endBy(Disposables.disposed());
        }
    }

    /**
     * The entry is not there any more, or not as it should be.
     *
     * @param known the entry
     * @param why it is lost, if it held the lock
     * @return false if that is no news of ours
     */
    public final boolean vanished(E known, LossReason why) {
        return vanished(known, why, true);
    }

    /** No question about the waiting claim came for the length of a lease; false if it does not wait any more. */
    final boolean dropped(E known) {
        return vanished(known, LossReason.EXPIRED, false);
    }

    private boolean vanished(E known, LossReason why, boolean evenIfOwned) {
        Disposable watch;
        boolean owned;
        synchronized (this) {
            if (!known.equals(entry) || (stage != Stage.WAITING && (stage != Stage.OWNER || !evenIfOwned))) {
                return false;
            }
            givenUp = known;
            owned = stage == Stage.OWNER;
            if (owned) {
                stage = Stage.LOST;
                reason = why;
            } else {
                stage = Stage.ENTERING;
                entry = null;
            }
            uncertain = true;
            watch = stopFollowing();
        }
        watch.dispose();
        over();
        if (owned) {
            endBy(Disposables.disposed());
        }
        return true;
    }

    /**
     * A client that claims does not believe that it has the lock, so a grant that was lost does not block a new one.
     */
    public final synchronized void claimed() {
        if (stage == Stage.LOST) {
            stage = Stage.ENTERING;
            entry = null;
        }
    }

    /**
     * The claim ends. {@link #over} has to follow when its entry is gone.
     *
     * @return whether it was the owner
     */
    public final boolean leave() {
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

    /** What waits behind this claim's entry is to look again. */
    public final void over() {
        Sinks.Empty<Void> awaited;
        synchronized (this) {
            awaited = stopBeingAwaited();
        }
        complete(awaited);
    }

    private Sinks.@Nullable Empty<Void> stopBeingAwaited() {
        Sinks.Empty<Void> awaited = over;
        over = null;
        return awaited;
    }

    private static void complete(Sinks.@Nullable Empty<Void> awaited) {
        if (awaited != null) {
            awaited.tryEmitEmpty();
        }
    }

    /**
     * What becomes of an entry of this client, which needs no watch in the store.
     *
     * @param known the entry
     * @return completes when it is over; null if this claim does not have it
     */
    public final synchronized @Nullable Mono<Void> untilOver(E known) {
        if (!known.equals(entry) || (stage != Stage.WAITING && stage != Stage.OWNER)) {
            return null;
        }
        if (over == null) {
            over = Sinks.empty();
        }
        return over.asMono();
    }

    /** What is going to end the wait, if it goes on. */
    final synchronized void endWaitBy(Disposable timer) {
        if (stage == Stage.WAITING) {
            endBy(timer);
        } else {
            timer.dispose();
        }
    }

    /** Replaces what is going to end the hold. */
    final void endBy(Disposable timer) {
        end.update(timer);
    }

    /** Where to put the one watch there is; null if this is watched already or need not be. */
    final Disposable.@Nullable Swap follow(@Nullable P obstacle) {
        String name = obstacle == null ? THE_LINE : obstacle.name();
        Disposable earlier;
        Following begun;
        synchronized (this) {
            if (stage != Stage.WAITING || (following != null && following.obstacle.equals(name))) {
                return null;
            }
            earlier = stopFollowing();
            begun = new Following(name, Disposables.swap());
            following = begun;
        }
        earlier.dispose();
        return begun.watch;
    }

    final synchronized void followed(Disposable.Swap watch) {
        if (following != null && following.watch == watch) {
            following = null;
        }
    }

    private Disposable stopFollowing() {
        Following stopped = following;
        following = null;
        return stopped == null ? Disposables.disposed() : stopped.watch;
    }
}
