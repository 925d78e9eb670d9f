package io.github.reactivelock.zookeeper;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.state.LossReason;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;

/**
 * What this client knows of one claim's node. Every answer of the store names the node it speaks of, so that an old
 * answer is not taken for news of a node that was made anew. Guarded by itself; nothing slow happens inside.
 *
 * <pre>
 * stage      the node                 leaves on
 * entering   may be there             seen -> waiting; leave -> left
 * waiting    was there                fits in -> owner; vanished -> entering; leave -> left
 * owner      was there, in            vanished, ended -> lost; leave -> left
 * lost       is not ours any more     claimed again -> entering; leave -> left
 * left       is being deleted
 * </pre>
 */
final class ClaimState {

    /** To follow instead of a node; none is called so. */
    static final String THE_LINE = "";

    private static final int MOST_MISSES = 8;

    private enum Stage {
        ENTERING,
        WAITING,
        OWNER,
        LOST,
        LEFT
    }

    /** A watch on a node before this one, or on the whole line. */
    private record Following(String obstacle, Disposable.Swap watch) {}

    final Claim claim;
    private Stage stage = Stage.ENTERING;
    private @Nullable Node node;
    /** A node of this claim may be there besides the one that is known, or one that belongs to an earlier session. */
    private boolean uncertain;

    private @Nullable Mono<Nodes.Entry> entering;
    private @Nullable Following following;
    private int misses;
    private LossReason reason = LossReason.EXPIRED;
    /** It was given up, and may be there until its deletion arrives. */
    private @Nullable Node givenUp;

    private final Disposable.Swap end = Disposables.swap();

    ClaimState(Claim claim) {
        this.claim = claim;
    }

    synchronized @Nullable Node node() {
        return node;
    }

    synchronized boolean isOwner() {
        return stage == Stage.OWNER;
    }

    /** It waits for one node, whose end is certain to be noticed. */
    synchronized boolean isFollowingANode() {
        return stage == Stage.WAITING && following != null && !following.obstacle.equals(THE_LINE);
    }

    synchronized boolean isUncertain() {
        return uncertain;
    }

    /** It was the owner and is not any more, why, or null if that is not so. */
    synchronized @Nullable LossReason loss() {
        return stage == Stage.LOST ? reason : null;
    }

    /** The one creation under way, begun if there is none; null if no node must be made any more. */
    synchronized @Nullable Mono<Nodes.Entry> enter(Supplier<Mono<Nodes.Entry>> creation) {
        if (stage != Stage.ENTERING) {
            return null;
        }
        if (entering == null) {
            entering = creation.get();
        }
        return entering;
    }

    /** Whether a node that is made now is wanted. */
    synchronized boolean mayEnter() {
        return stage == Stage.ENTERING;
    }

    /** The creation under way. */
    synchronized @Nullable Mono<Nodes.Entry> entering() {
        return entering;
    }

    /** The creation under way has ended without telling whether there is a node. */
    synchronized void failed() {
        entering = null;
        uncertain = true;
    }

    /** The creation under way has ended, and made no node, because others came. */
    synchronized void notMade() {
        entering = null;
        misses++;
    }

    /** Servers that count what came in another way would let none that only tries in. */
    synchronized boolean hasMissedOften() {
        return misses > MOST_MISSES;
    }

    /** The node is there; false if the claim has ended, or has given this node up. */
    synchronized boolean seen(Node made) {
        entering = null;
        if (made.equals(givenUp)) {
            return false;
        }
        if (stage == Stage.ENTERING || stage == Stage.WAITING) {
            stage = Stage.WAITING;
            node = made;
            uncertain = false;
            return true;
        }
        return stage == Stage.OWNER && made.equals(node);
    }

    /** Nodes are there besides the one that is known. */
    synchronized void doubted() {
        uncertain = true;
    }

    /** No node is there but this one, or none at all. */
    synchronized void settled(@Nullable Node known) {
        if (Objects.equals(known, node)) {
            uncertain = false;
        }
    }

    /** The node fits in; false if that is no news of ours. */
    boolean own(Node known) {
        Disposable watch;
        synchronized (this) {
            if (!known.equals(node) || (stage != Stage.WAITING && stage != Stage.OWNER)) {
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

    /** The node is not there any more, or not as it should be; false if that is no news of ours. */
    boolean vanished(Node known, LossReason why) {
        return vanished(known, why, true);
    }

    /** No question about the waiting claim came for the length of a lease; false if it does not wait any more. */
    boolean dropped(Node known) {
        return vanished(known, LossReason.EXPIRED, false);
    }

    private boolean vanished(Node known, LossReason why, boolean evenIfOwned) {
        Disposable watch;
        boolean owned;
        synchronized (this) {
            if (!known.equals(node) || (stage != Stage.WAITING && (stage != Stage.OWNER || !evenIfOwned))) {
                return false;
            }
            givenUp = known;
            owned = stage == Stage.OWNER;
            if (owned) {
                stage = Stage.LOST;
                reason = why;
            } else {
                stage = Stage.ENTERING;
                node = null;
            }
            uncertain = true;
            watch = stopFollowing();
        }
        watch.dispose();
        if (owned) {
            endBy(Disposables.disposed());
        }
        return true;
    }

    /**
     * A client that claims does not believe that it has the lock, so a grant that was lost does not block a new one.
     */
    synchronized void claimed() {
        if (stage == Stage.LOST) {
            stage = Stage.ENTERING;
            node = null;
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
                "the claim ended or lost its node before ZooKeeper answered; ask again for '" + claim.key() + "'");
    }
}
