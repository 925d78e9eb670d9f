package io.github.reactivelock.memory;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Vote;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.Collections;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What the store keeps of one key: an owner and a queue. Knows nothing of threads and of subscribers: it is touched only
 * inside the store's atomic step for its key, and what it has to tell goes to a {@link Teller}.
 */
final class Entry {

    /** Hears, in order, what happens to the key. */
    interface Teller {
        void granted(InMemoryLockBackend to, Claim claim, long token);

        void acquired(Claim claim, long token);

        void released(Claim claim, long token);

        void forced(InMemoryLockBackend from, Claim claim);
    }

    /** A claim at the store: where to push, and until when it is believed alive or, as owner, holds. */
    private static final class Place {
        final Claim claim;
        /** Lower ones are served first; those of equals in the order in which they came. */
        final long ticket;

        /** When the claim came, or as owner, when it was granted. */
        long since;

        InMemoryLockBackend from;
        long until;
        long token;

        Place(Claim claim, long ticket, InMemoryLockBackend from, long since, long until) {
            this.claim = claim;
            this.ticket = ticket;
            this.from = from;
            this.until = until;
            this.since = since;
        }

        boolean isOver(long now) {
            return until - now <= 0;
        }

        void extend(long now) {
            until = now + nanos(claim.lease());
        }
    }

    /** Of claims that are served in the order in which they come. */
    static final long NO_TICKET = -1;

    private static final Duration LONGEST = Duration.ofDays(36_500);

    private final LongSupplier tokens;
    /** Most keys never have one. */
    private Map<String, Place> queue = Collections.emptyMap();

    private @Nullable Place owner;
    private @Nullable Place newest;

    Entry(LongSupplier tokens) {
        this.tokens = tokens;
    }

    boolean isEmpty() {
        return owner == null && queue.isEmpty();
    }

    ClaimResult claim(Claim claim, long ticket, InMemoryLockBackend from, long now, Teller teller) {
        Place waiting = queue.get(claim.id());
        if (waiting != null) {
            waiting.from = from;
            waiting.extend(now);
        }
        expire(now);
        if (owner == null) {
            Place first = firstAlive(now);
            if (first == null || first == waiting) {
                queue.remove(claim.id());
                own(new Place(claim, ticket, from, now, now), now, teller);
            } else {
                promote(first, now, teller);
            }
        }
        Place held = owner;
        if (held != null && held.claim.id().equals(claim.id())) {
            held.from = from;
            held.extend(now);
            return new ClaimResult.Granted(held.token, claim.lease());
        }
        if (claim.mode() == Claim.Mode.TRY) {
            return new ClaimResult.Busy();
        }
        String behind = null;
        if (waiting == null) {
            behind = last();
            newest = new Place(claim, ticket, from, now, now + nanos(claim.lease()));
            if (queue.isEmpty()) {
                queue = new LinkedHashMap<>(4);
            }
            queue.put(claim.id(), newest);
        }
        return new ClaimResult.Queued(
                Duration.ofNanos(held == null ? 0 : held.until - now), behind, held == null ? 0 : held.token);
    }

    /** Empty if the claim's lease starts anew, else why not. */
    Optional<LossReason> renew(Claim claim, long now, Teller teller) {
        settle(now, teller);
        Place held = owner;
        if (held == null) {
            return Optional.of(LossReason.EXPIRED);
        }
        if (!held.claim.id().equals(claim.id())) {
            return Optional.of(LossReason.TAKEN_OVER);
        }
        held.extend(now);
        return Optional.empty();
    }

    boolean release(Claim claim, long now, Teller teller) {
        queue.remove(claim.id());
        settle(now, teller);
        Place held = owner;
        if (held == null || !held.claim.id().equals(claim.id())) {
            return false;
        }
        end(held, now, teller);
        return true;
    }

    /** The owner leaves the lock to another claim, under the same token. */
    boolean keep(Claim from, Claim to, long now, Teller teller) {
        settle(now, teller);
        Place held = owner;
        if (held == null
                || (!held.claim.id().equals(from.id()) && !held.claim.id().equals(to.id()))) {
            return false;
        }
        Place kept = new Place(to, held.ticket, held.from, held.since, now + nanos(to.lease()));
        kept.token = held.token;
        owner = kept;
        return true;
    }

    boolean forceRelease(long token, long now, Teller teller) {
        settle(now, teller);
        Place held = owner;
        if (held == null || held.token != token) {
            return false;
        }
        teller.forced(held.from, held.claim);
        end(held, now, teller);
        return true;
    }

    /** Shows another token as the owner's, if the claim is the owner and was not granted anew since, with a higher one. */
    boolean show(Claim claim, long token, long now) {
        Place held = owner;
        if (held == null || held.isOver(now) || !held.claim.id().equals(claim.id())) {
            return false;
        }
        if (held.token > token) {
            return false;
        }
        held.token = token;
        return true;
    }

    LockInfo inspect(String key, long now) {
        Place held = owner;
        if (held == null || held.isOver(now)) {
            return new LockInfo.Free(key);
        }
        List<Place> alive = queue.values().stream()
                .filter(place -> !place.isOver(now))
                .sorted(Comparator.comparingLong(place -> place.ticket))
                .toList();
        List<LockInfo.Waiting> shown = alive.stream()
                .limit(LockInfo.Held.MOST_SHOWN)
                .map(place -> new LockInfo.Waiting(place.claim.owner(), Duration.ofNanos(now - place.since)))
                .toList();
        return new LockInfo.Held(
                key,
                held.claim.owner(),
                held.token,
                Duration.ofNanos(held.until - now),
                alive.size(),
                Duration.ofNanos(now - held.since),
                shown);
    }

    /** Forgets what has run out, and gives a lock that is free to whoever waits for it. */
    private void settle(long now, Teller teller) {
        expire(now);
        if (owner == null) {
            Place first = firstAlive(now);
            if (first != null) {
                promote(first, now, teller);
            }
        }
    }

    private void end(Place held, long now, Teller teller) {
        owner = null;
        teller.released(held.claim, held.token);
        settle(now, teller);
    }

    private void expire(long now) {
        Place held = owner;
        if (held != null && held.isOver(now)) {
            owner = null;
        }
    }

    /** The claim that whoever comes next will stand behind; null if the one that came last has left the queue. */
    private @Nullable String last() {
        Place last = queue.isEmpty() ? owner : newest;
        return last == null || (last != owner && queue.get(last.claim.id()) != last) ? null : last.claim.id();
    }

    /** The lowest ticket of a claim that waits. */
    long firstWaiting(long now) {
        Place first = firstAlive(now);
        return first == null ? Vote.NOBODY : first.ticket;
    }

    private @Nullable Place firstAlive(long now) {
        if (queue.isEmpty()) {
            return null;
        }
        Iterator<Place> waiting = queue.values().iterator();
        Place first = null;
        while (waiting.hasNext()) {
            Place next = waiting.next();
            if (next.isOver(now)) {
                waiting.remove();
            } else if (next.ticket == NO_TICKET) {
                return next;
            } else if (first == null || next.ticket < first.ticket) {
                first = next;
            }
        }
        return first;
    }

    private void promote(Place first, long now, Teller teller) {
        queue.remove(first.claim.id());
        own(first, now, teller);
        teller.granted(first.from, first.claim, first.token);
    }

    private void own(Place next, long now, Teller teller) {
        next.token = tokens.getAsLong();
        next.extend(now);
        next.since = now;
        owner = next;
        teller.acquired(next.claim, next.token);
    }

    private static long nanos(Duration lease) {
        return (lease.compareTo(LONGEST) > 0 ? LONGEST : lease).toNanos();
    }
}
