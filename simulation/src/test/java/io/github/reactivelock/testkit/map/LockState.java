package io.github.reactivelock.testkit.map;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.FencingTokens;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * One lock: its owner, and who waits for it. All rules of the store are here, as functions that make the next state of
 * this one; what makes them atomic is elsewhere. Times are the store's.
 *
 * @param grants how many there were so far, which makes the fencing token: it rises with each and is never used again
 * @param owner whose claim was served last, or null if the lock is free
 * @param queue claims that wait, first come first
 */
record LockState(long grants, @Nullable Place owner, List<Place> queue) {

    /** A lock that was never taken. */
    static final LockState NEW = new LockState(0, null, List.of());

    /**
     * What is kept of a claim: for people its owner's name, its lease, and until when that lasts unless it asks again.
     */
    record Place(String id, String name, long lease, long until) {
        static Place of(Claim claim, long now) {
            return new Place(claim.id(), claim.owner(), claim.lease().toNanos(), now).at(now);
        }

        Place at(long now) {
            return new Place(id, name, lease, now + lease);
        }

        boolean isAlive(long now) {
            return until - now > 0;
        }

        boolean isOf(Claim claim) {
            return id.equals(claim.id());
        }
    }

    boolean isOwnedBy(Claim claim) {
        return owner != null && owner.isOf(claim);
    }

    boolean isInForce(long fencingToken) {
        return owner != null && fencingToken() == fencingToken;
    }

    private long fencingToken() {
        return FencingTokens.of(grants);
    }

    /**
     * A free lock is granted. Otherwise the claim gets a place, or keeps the one it has, or goes if it does not wait.
     */
    LockState claimed(Claim claim, long now) {
        LockState present = settled(now);
        Place place = Place.of(claim, now);
        if (present.owner == null) {
            return present.granted(place);
        }
        if (present.isOwnedBy(claim)) {
            return new LockState(present.grants, place, present.queue);
        }
        List<Place> waiting = new ArrayList<>(present.queue);
        int at = present.indexOf(claim);
        if (at < 0 && claim.mode() == Claim.Mode.QUEUE) {
            waiting.add(place);
        } else if (at >= 0 && waiting.get(at).until() - now < place.lease() / 2) {
            waiting.set(at, place); // not each time that it asks, because it asks often
        }
        return new LockState(present.grants, present.owner, List.copyOf(waiting));
    }

    private int indexOf(Claim claim) {
        return IntStream.range(0, queue.size())
                .filter(i -> queue.get(i).isOf(claim))
                .findFirst()
                .orElse(-1);
    }

    /**
     * What a claim is told of a state that came of it. There are no pushes, so a claim that waits has to ask again
     * soon.
     */
    ClaimResult answer(Claim claim, Duration poll) {
        if (isOwnedBy(claim)) {
            return new ClaimResult.Granted(fencingToken(), claim.lease());
        }
        int at = indexOf(claim);
        Place before = at <= 0 ? owner : queue.get(at - 1);
        return at < 0
                ? new ClaimResult.Busy()
                : new ClaimResult.Queued(poll, before == null ? null : before.id(), fencingToken());
    }

    /** The owner's lease starts anew; of any other claim nothing is brought back. */
    LockState renewed(Claim claim, long now) {
        LockState present = settled(now);
        return present.isOwnedBy(claim) ? new LockState(present.grants, Place.of(claim, now), present.queue) : present;
    }

    /** The owner's place goes to another claim, which may have it already. */
    LockState kept(Claim owner, Claim kept, long now) {
        LockState present = settled(now);
        return present.isOwnedBy(owner) || present.isOwnedBy(kept)
                ? new LockState(present.grants, Place.of(kept, now), present.queue)
                : present;
    }

    /** The claim has no place any more; if it was the owner, the next one is served in the same step. */
    LockState without(Claim claim, long now) {
        return removed(place -> place.isOf(claim)).settled(now);
    }

    /** The grant of that token is over, and no other. */
    LockState forced(long fencingToken, long now) {
        LockState present = settled(now);
        return present.isInForce(fencingToken)
                ? new LockState(present.grants, null, present.queue).settled(now)
                : present;
    }

    /** A claim that was silent for its lease is gone, and a lock that is free goes to the first that waits. */
    LockState settled(long now) {
        LockState alive = removed(place -> !place.isAlive(now));
        if (alive.owner != null || alive.queue.isEmpty()) {
            return alive;
        }
        Place first = alive.queue.get(0);
        return alive.removed(first::equals).granted(first.at(now));
    }

    private LockState granted(Place place) {
        return new LockState(grants + 1, place, queue);
    }

    private LockState removed(Predicate<Place> which) {
        return new LockState(
                grants,
                owner == null || which.test(owner) ? null : owner,
                queue.stream().filter(which.negate()).toList());
    }

    LockInfo info(String key, long now) {
        if (owner == null || !owner.isAlive(now)) {
            return new LockInfo.Free(key);
        }
        long waiters = queue.stream().filter(place -> place.isAlive(now)).count();
        return new LockInfo.Held(key, owner.name(), fencingToken(), Duration.ofNanos(owner.until() - now), waiters);
    }

    /** What has happened between this state and the next one. */
    List<LockEvent> eventsUntil(LockState next, String key) {
        List<LockEvent> events = new ArrayList<>();
        if (owner != null && !next.isInForce(fencingToken())) {
            events.add(new LockEvent.Released(key, fencingToken()));
        }
        if (next.owner != null && !isInForce(next.fencingToken())) {
            events.add(new LockEvent.Acquired(key, next.owner.name(), next.fencingToken()));
        }
        return events;
    }
}
