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
 * waiting    was there                first in line -> owner; vanished -> entering; leave -> left
 * owner      was there, first         vanished, ended -> lost; leave -> left
 * lost       is not ours any more     claimed again -> entering; leave -> left
 * left       is being deleted
 * </pre>
 */
final class ClaimState {

    private enum Stage {
        ENTERING,
        WAITING,
        OWNER,
        LOST,
        LEFT
    }

    /** A watch on the node before this one. */
    private record Following(String predecessor, Disposable.Swap watch) {}

    final Claim claim;
    private Stage stage = Stage.ENTERING;
    private @Nullable Node node;
    /** A node of this claim may be there besides the one that is known, or one that belongs to an earlier session. */
    private boolean uncertain;

    private @Nullable Mono<Nodes.Entry> entering;
    private @Nullable Following following;
    private LossReason reason = LossReason.EXPIRED;
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

    synchronized boolean isFollowing() {
        return stage == Stage.WAITING && following != null;
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

    /** The creation under way. */
    synchronized @Nullable Mono<Nodes.Entry> entering() {
        return entering;
    }

    /** The creation under way has ended without telling whether there is a node. */
    synchronized void failed() {
        entering = null;
        uncertain = true;
    }

    /** The node is there; false if the claim has ended. */
    synchronized boolean seen(Node made) {
        entering = null;
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

    /** The node is first in line; false if that is no news of ours. */
    synchronized boolean own(Node known) {
        if (!known.equals(node) || (stage != Stage.WAITING && stage != Stage.OWNER)) {
            return false;
        }
        stage = Stage.OWNER;
        return true;
    }

    /** The node is not there any more, or not as it should be; false if that is no news of ours. */
    boolean vanished(Node known, LossReason why) {
        Disposable watch;
        boolean owned;
        synchronized (this) {
            if (!known.equals(node) || (stage != Stage.WAITING && stage != Stage.OWNER)) {
                return false;
            }
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

    /** A client that claims does not believe that it has the lock, so a grant that was lost does not block a new one. */
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
        boolean unused = end.update(timer);
    }

    /** Where to put the one watch there is on a predecessor; null if it is watched already or need not be. */
    Disposable.@Nullable Swap follow(String predecessor) {
        Disposable earlier;
        Following begun;
        synchronized (this) {
            if (stage != Stage.WAITING || (following != null && following.predecessor.equals(predecessor))) {
                return null;
            }
            earlier = stopFollowing();
            begun = new Following(predecessor, Disposables.swap());
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
