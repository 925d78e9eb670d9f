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
import org.jspecify.annotations.Nullable;

/**
 * What the store keeps of one key: its holders and a queue. Knows nothing of threads and of subscribers: it is touched
 * only inside the store's atomic step for its key, and what it has to tell goes to a {@link Notices}.
 */
final class Entry {

    /** Ticket of claims that are served in the order in which they come. */
    static final long NO_TICKET = -1;

    private final Tokens tokens;
    /** Most keys never have one. */
    private Map<String, Place> queue = Collections.emptyMap();

    private final Holders holders = new Holders();
    private @Nullable Place newest;
    private long lastToken;

    Entry(Tokens tokens) {
        this.tokens = tokens;
    }

    boolean isEmpty() {
        return holders.isEmpty() && queue.isEmpty();
    }

    /** @param proposal a token that the claim would like to have, or zero */
    ClaimResult claim(Claim claim, long ticket, long proposal, InMemoryLockBackend from, long now, Notices notices) {
        Place waiting = queue.get(claim.id());
        if (waiting != null) {
            waiting.from = from;
            waiting.extend(now);
        }
        holders.expire(now);
        Place held = holders.find(claim.id());
        if (held == null) {
            Place asking = waiting == null ? new Place(claim, ticket, from, now) : waiting;
            serve(asking, proposal, now, notices);
            held = holders.find(claim.id());
        } else if (tokens.follow(proposal)) {
            number(held, proposal);
            notices.acquired(held.claim, held.token);
        }
        if (held != null) {
            held.from = from;
            held.extend(now);
            return new ClaimResult.Granted(ticket == NO_TICKET ? held.token : said(held), claim.lease());
        }
        if (claim.mode() == Claim.Mode.TRY && waiting == null && (!isRecallable() || firstAlive(now) != null)) {
            return new ClaimResult.Busy();
        }
        String behind = null;
        if (waiting == null) {
            behind = last(claim);
            newest = new Place(claim, ticket, from, now);
            newest.extend(now);
            if (queue.isEmpty()) {
                queue = new LinkedHashMap<>(4);
            }
            queue.put(claim.id(), newest);
        }
        recall(notices);
        return new ClaimResult.Queued(holders.firstEnd(now), behind, lastToken);
    }

    private boolean isRecallable() {
        Place owner = holders.owner();
        return owner != null && owner.claim.recallable();
    }

    /** Somebody waits for what the owner may have kept. */
    void recall(Notices notices) {
        Place owner = holders.owner();
        if (owner != null && owner.claim.recallable()) {
            notices.recalled(owner.from, owner.claim);
        }
    }

    /**
     * What a vote says. Where a lower token is shown it is the number of before, because it never falls, or a majority
     * might name a token that is over.
     */
    private long said(Place held) {
        return held.claim.share().isWhole() ? Math.max(held.token, lastToken) : held.token;
    }

    /** Empty if the claim's lease starts anew, else why not. */
    Optional<LossReason> renew(Claim claim, long now, Notices notices) {
        settle(now, notices);
        Place held = holders.find(claim.id());
        if (held == null) {
            return Optional.of(holders.areOthers(claim.share()) ? LossReason.TAKEN_OVER : LossReason.EXPIRED);
        }
        held.extend(now);
        return Optional.empty();
    }

    /** What waits may stand before others that fit, {@code models/Shares.tla: LeaverServes}. */
    boolean release(Claim claim, long now, Notices notices) {
        queue.remove(claim.id());
        settle(now, notices);
        Place held = holders.find(claim.id());
        if (held == null) {
            return false;
        }
        free(held, now, notices);
        return true;
    }

    /** A holder leaves the lock to another claim, under the same token. */
    boolean keep(Claim from, Claim to, long now, Notices notices) {
        settle(now, notices);
        Place before = holders.find(from.id());
        Place held = before == null ? holders.find(to.id()) : before;
        if (held == null) {
            return false;
        }
        Place kept = new Place(to, held.ticket, held.from, held.since);
        kept.token = held.token;
        kept.extend(now);
        holders.remove(held);
        holders.add(kept);
        return true;
    }

    boolean forceRelease(long token, long now, Notices notices) {
        settle(now, notices);
        Place held = holders.find(token);
        if (held == null) {
            tokens.follow(token); // no vote that comes later gets it
            return false;
        }
        notices.forced(held.from, held.claim);
        free(held, now, notices);
        return true;
    }

    /**
     * Shows another token as a holder's, if the claim is one and no other has that token. A higher one stays, unless it
     * is the vote's number and the claim is alone.
     */
    boolean show(Claim claim, long token, long votesNumber, long now, Notices notices) {
        Place held = holders.find(claim.id());
        if (held == null || held.isOver(now) || holders.isOthers(token, held)) {
            return false;
        }
        boolean makesWay = held.token == votesNumber && held.claim.share().isWhole();
        if (held.token > token && !makesWay) {
            return false;
        }
        number(held, token);
        notices.acquired(held.claim, token);
        return true;
    }

    LockInfo inspect(String key, long now) {
        Place held = holders.newest(now);
        if (held == null) {
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
                shown,
                holders.shown(now),
                held.claim.recallable());
    }

    /** Forgets what has run out, and gives what is free to the claims that wait for it. */
    private void settle(long now, Notices notices) {
        holders.expire(now);
        serve(null, 0, now, notices);
    }

    private void free(Place held, long now, Notices notices) {
        holders.remove(held);
        notices.released(held.claim, held.token);
        settle(now, notices);
    }

    /**
     * The claim that this one, which comes now, will stand behind; null if it is unknown or asks for something else.
     */
    private @Nullable String last(Claim coming) {
        Place last = queue.isEmpty() ? holders.owner() : newest;
        if (last == null || (!queue.isEmpty() && queue.get(last.claim.id()) != last)) {
            return null;
        }
        return last.claim.share().isWhole() && coming.share().isWhole() ? last.claim.id() : null;
    }

    /** The lowest ticket of a claim that waits. */
    long firstWaiting(long now) {
        Place first = firstAlive(now);
        return first == null ? Vote.NOBODY : first.ticket;
    }

    /** The answer to the claim, and who has the lock where it has not. */
    Vote vote(Claim claim, ClaimResult result, String incarnation, Duration uptime, long now) {
        boolean isAnothers = !holders.isEmpty() && holders.find(claim.id()) == null;
        Place owner = holders.owner();
        String name = owner == null ? Vote.SHARED : owner.claim.id();
        return new Vote(
                result,
                incarnation,
                uptime,
                firstWaiting(now),
                isAnothers ? name : "",
                isAnothers && owner != null ? owner.token : 0);
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

    /**
     * Grants the first claim for as long as it fits, so that those who share go in together and no claim is overtaken,
     * {@code models/Shares.tla: NobodyOvertakes}. Who asks stands at its place, or if it has none, at the end; it is
     * answered and needs no push.
     */
    private void serve(@Nullable Place asking, long proposal, long now, Notices notices) {
        Place asks = asking;
        while (true) {
            Place first = firstAlive(now);
            Place next = first == null ? asks : first;
            if (next == null || !holders.fits(next.claim)) {
                return;
            }
            queue.remove(next.claim.id());
            own(next, numberFor(next, next == asking, proposal), now, notices);
            if (next == asks) {
                asks = null;
            } else {
                notices.granted(next.from, next.claim, next.token);
            }
        }
    }

    private long numberFor(Place next, boolean isAsking, long proposal) {
        if (!isAsking) {
            return tokens.nextServed();
        }
        return next.ticket == NO_TICKET ? tokens.next() : tokens.nextVote(proposal);
    }

    private void own(Place next, long token, long now, Notices notices) {
        number(next, token);
        next.extend(now);
        next.since = now;
        holders.add(next);
        notices.acquired(next.claim, next.token);
    }

    private void number(Place held, long token) {
        held.token = token;
        lastToken = Math.max(lastToken, token);
    }
}
