package io.github.reactivelock.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.github.reactivelock.spi.Claim;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;

/**
 * What this client knows of one claim's key. Every answer of the store names the create revision it speaks of, so
 * that an old answer is not taken for news of a key that was made anew. Guarded by itself; nothing slow happens
 * inside.
 *
 * <pre>
 * stage      the key                  leaves on
 * entering   may be there             seen -> waiting; leave -> left
 * waiting    was there                first in the queue, or fits -> owner; vanished -> entering; leave -> left
 * owner      was there, first         vanished -> lost; leave -> left
 * lost       is not there             claimed again -> entering; leave -> left
 * left       is being deleted, until end
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

    final Claim claim;
    final KeySlot place;
    final ByteSequence name;
    final ByteSequence value;
    /** {@link KeyLayout#tail} of the name. */
    final String tail;
    /** How often the key was put, or is about to be, without an answer so far. */
    private int unanswered;
    /** The deletion of the key was answered. */
    private boolean ended;
    /** When its client last said that it wants it. */
    private volatile long wantedAt = System.nanoTime();

    /** What it was last seen to stand behind. */
    private volatile List<KeyValue> obstacles = List.of();

    /** For a claim that only tries: at which revision the lock had room for it. */
    private volatile long roomSeenAt;

    private Stage stage = Stage.ENTERING;
    private long revision;
    private long seenAt;
    private @Nullable Lease lease;
    private @Nullable Following following;
    /** What was followed when the claim left. */
    private @Nullable Following followedLast;

    private @Nullable ClaimState successor;

    ClaimState(Claim claim, KeySlot place, ByteSequence name, ByteSequence value) {
        this.claim = claim;
        this.place = place;
        this.name = name;
        this.value = value;
        this.tail = KeyLayout.tail(name);
    }

    /** The create revision of the key, or zero if it has to be put first. */
    synchronized long revision() {
        return revision;
    }

    void wanted() {
        wantedAt = System.nanoTime();
    }

    /** Its client has said nothing of it for a lease. */
    boolean isForsaken(long now) {
        return now - wantedAt > claim.lease().toNanos();
    }

    void sawRoom(long atRevision) {
        roomSeenAt = atRevision;
    }

    long roomSeenAt() {
        return roomSeenAt;
    }

    /** As long as all these keys are there, the claim is not in. */
    void standsBehind(List<KeyValue> seen) {
        obstacles = seen;
    }

    List<KeyValue> obstacles() {
        return obstacles;
    }

    /** Whether it is for all of the lock. */
    boolean isWhole() {
        return claim.share().isWhole();
    }

    synchronized boolean isOwner() {
        return stage == Stage.OWNER;
    }

    synchronized boolean isWaiting() {
        return stage == Stage.WAITING;
    }

    /** Its key was there when it was last looked at. */
    synchronized boolean isQueued() {
        return stage == Stage.WAITING || stage == Stage.OWNER;
    }

    /** It was the owner and its key is gone. */
    synchronized boolean isLost() {
        return stage == Stage.LOST;
    }

    synchronized @Nullable Lease lease() {
        return lease;
    }

    /** What is said of an answer that came too late. */
    IllegalStateException tooLate() {
        return new IllegalStateException(
                "the claim ended or lost its key before etcd answered; ask again for '" + claim.key() + "'");
    }

    /** The lease for a key about to be put: an earlier one if that lasts. Null if it must not be put. */
    synchronized @Nullable Lease bind(Lease offered) {
        if (stage != Stage.ENTERING) {
            return null;
        }
        if (lease != null && lease.hasEnded()) {
            lease.remove(this);
            lease = null;
        }
        lease = lease == null ? offered : lease;
        lease.add(this);
        unanswered++;
        return lease;
    }

    /** The key is put once more; false if it must not be. */
    synchronized boolean putAgain() {
        unanswered++;
        return stage != Stage.LEFT;
    }

    synchronized void putAnswered() {
        unanswered--;
    }

    /** Once the claim has left: whether its key cannot appear any more unless it is there now. */
    synchronized boolean isSettled() {
        return unanswered == 0;
    }

    /** The key is there; false if the claim has ended. */
    synchronized boolean seen(long createRevision) {
        if (stage == Stage.ENTERING || stage == Stage.WAITING) {
            if (stage == Stage.ENTERING) {
                successor = null; // it came behind a key that is gone
            }
            stage = Stage.WAITING;
            revision = createRevision;
            seenAt = System.nanoTime();
            return true;
        }
        return stage == Stage.OWNER && revision == createRevision;
    }

    /** The key is first in the queue; false if that is no news of ours. */
    synchronized boolean own(long createRevision) {
        if (revision != createRevision || (stage != Stage.WAITING && stage != Stage.OWNER)) {
            return false;
        }
        stage = Stage.OWNER;
        return true;
    }

    /**
     * A client that claims does not believe that it has the lock, so a grant that was lost does not block a new one.
     */
    synchronized void claimed() {
        if (stage == Stage.LOST) {
            stage = Stage.ENTERING;
        }
    }

    /** The key is not there any more, which is no news if another has taken its place meanwhile. */
    void vanished(long createRevision) {
        drop(createRevision);
    }

    private boolean drop(long createRevision) {
        Disposable watch;
        synchronized (this) {
            if (revision != createRevision || (stage != Stage.WAITING && stage != Stage.OWNER)) {
                return false;
            }
            stage = stage == Stage.OWNER ? Stage.LOST : Stage.ENTERING;
            revision = 0;
            watch = stopFollowing();
        }
        watch.dispose();
        return true;
    }

    /** As {@link #vanished}, by a list of keys that was asked for at a time and does not have this one. */
    boolean missingSince(long askedAt) {
        long known;
        synchronized (this) {
            if (revision == 0 || seenAt - askedAt >= 0) {
                return false;
            }
            known = revision;
        }
        return drop(known);
    }

    /** The claim ends; whether it was the owner. */
    boolean leave() {
        boolean owner;
        Disposable watch;
        synchronized (this) {
            owner = stage == Stage.OWNER;
            stage = Stage.LEFT;
            followedLast = following;
            watch = stopFollowing();
            if (lease != null) {
                lease.remove(this);
            }
        }
        watch.dispose();
        return owner;
    }

    /**
     * The next in the queue is this client's too and needs no watch: it gets the news from this claim. False if that
     * was done already, or if this claim is not known to be the one that was made at that revision: another may have
     * been at its place before.
     */
    synchronized boolean isFollowedBy(ClaimState next, long createRevision) {
        if (ended || revision != createRevision) {
            return false;
        }
        successor = next;
        return true;
    }

    /** From now on no further claim gets this claim's news. */
    synchronized void closeNews() {
        ended = true;
    }

    /** The claim to notify when this one has left. */
    synchronized @Nullable ClaimState successor() {
        return successor;
    }

    /**
     * Where to put the one watch there is on a predecessor; null if it is watched already or need not be.
     *
     * @param known at which revision the key of this claim was made that stands behind it
     */
    Disposable.@Nullable Swap follow(long known, Following begun) {
        Disposable earlier;
        synchronized (this) {
            if (stage != Stage.WAITING || revision != known || (following != null && following.isOf(begun))) {
                return null;
            }
            earlier = stopFollowing();
            following = begun;
        }
        earlier.dispose();
        return begun.watch();
    }

    /** Whether it waits for that claim, and so was right behind it. */
    synchronized boolean isFollowing(ClaimState other) {
        return following != null && following.own() == other;
    }

    /**
     * The key of this claim, which has left, is gone. The claim behind it follows the one before it, if that is this
     * client's as well; false if that has to be looked for.
     */
    boolean splice(ClaimState next) {
        Following before;
        synchronized (this) {
            before = followedLast;
        }
        ClaimState own = before == null ? null : before.own();
        return before != null
                && own != null
                && next.follow(next.revision(), before.anew()) != null
                && own.isFollowedBy(next, before.revision());
    }

    /** The predecessor has to be looked for anew. */
    void unfollow() {
        Disposable watch;
        synchronized (this) {
            watch = stopFollowing();
        }
        watch.dispose();
    }

    synchronized void followed(Disposable.Swap watch) {
        if (following != null && following.watch() == watch) {
            following = null;
        }
    }

    /**
     * To be disposed outside: jetcd takes a lock of its own to close a watch, and holds it while it reports an error.
     */
    private Disposable stopFollowing() {
        Following stopped = following;
        following = null;
        return stopped == null ? Disposables.disposed() : stopped.watch();
    }
}
