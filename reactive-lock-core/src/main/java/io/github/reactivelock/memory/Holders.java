package io.github.reactivelock.memory;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Who holds a key: one claim the whole of it, or several a share each, with a deadline of its own. */
final class Holders {

    /** The one holder of the whole. */
    private @Nullable Place owner;
    /** The newest is last. Most keys never have one. */
    private Map<String, Place> shares = Collections.emptyMap();

    private long used;

    boolean isEmpty() {
        return owner == null && shares.isEmpty();
    }

    boolean fits(Claim claim) {
        return claim.share().fitsBeside(used);
    }

    void add(Place next) {
        used += next.claim.share().units();
        if (next.claim.share().isWhole()) {
            owner = next;
            return;
        }
        if (shares.isEmpty()) {
            shares = new LinkedHashMap<>(4);
        }
        shares.put(next.claim.id(), next);
    }

    void remove(Place gone) {
        used -= gone.claim.share().units();
        if (gone == owner) {
            owner = null;
        } else {
            shares.remove(gone.claim.id());
        }
    }

    @Nullable
    Place find(String claimId) {
        Place held = owner;
        return held != null && held.claim.id().equals(claimId) ? held : shares.get(claimId);
    }

    @Nullable
    Place find(long token) {
        Predicate<Place> isIt = held -> held.token == token;
        Place held = owner;
        return held != null && isIt.test(held)
                ? held
                : shares.values().stream().filter(isIt).findFirst().orElse(null);
    }

    /** Whether the token is that of another one. */
    boolean isOthers(long token, Place held) {
        Place found = find(token);
        return found != null && found != held;
    }

    @Nullable
    Place owner() {
        return owner;
    }

    /** Forgets each holder that has been silent for a lease of its own, {@code models/Shares.tla: OwnDeadline}. */
    void expire(long now) {
        Place held = owner;
        if (held != null && held.isOver(now)) {
            remove(held);
        }
        if (!shares.isEmpty()) {
            Iterator<Place> each = shares.values().iterator();
            while (each.hasNext()) {
                Place share = each.next();
                if (share.isOver(now)) {
                    used -= share.claim.share().units();
                    each.remove();
                }
            }
        }
    }

    /** When the next of the leases is over, from now. */
    Duration firstEnd(long now) {
        Place held = owner;
        long first = held != null ? held.until - now : Long.MAX_VALUE;
        for (Place share : shares.values()) {
            first = Math.min(first, share.until - now);
        }
        return Duration.ofNanos(isEmpty() ? 0 : first);
    }

    /** The owner, or the holder that was granted a share last. */
    @Nullable
    Place newest(long now) {
        Place newest = owner;
        for (Place share : shares.values()) {
            if (!share.isOver(now)) {
                newest = share;
            }
        }
        return newest == null || newest.isOver(now) ? null : newest;
    }

    LockInfo.@Nullable Shares shown(long now) {
        if (shares.isEmpty()) {
            return null;
        }
        List<Place> alive = new ArrayList<>(shares.values());
        alive.removeIf(share -> share.isOver(now));
        Collections.reverse(alive);
        int units =
                alive.stream().mapToInt(share -> share.claim.share().units()).sum();
        List<LockInfo.Holder> first = alive.stream()
                .limit(LockInfo.Held.MOST_SHOWN)
                .map(share -> new LockInfo.Holder(
                        share.claim.owner(),
                        share.claim.share().units(),
                        share.token,
                        Duration.ofNanos(share.until - now)))
                .toList();
        return new LockInfo.Shares(units, alive.size(), first);
    }

    /** Whether who asks for a share of a lock that is not its own lost it to another. */
    boolean areOthers(Share share) {
        return owner != null || (share.isWhole() && !shares.isEmpty());
    }
}
