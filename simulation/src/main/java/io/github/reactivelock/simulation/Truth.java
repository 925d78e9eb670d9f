package io.github.reactivelock.simulation;

import io.github.reactivelock.state.LockInfo;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What the stores say of a hold. A client may rely on a lock for no longer than the store keeps it, or than a majority
 * of a quorum's nodes does. A node of a quorum that has forgotten its votes since the claim counts as one that keeps
 * them, because it votes for no other for a lease; one that forgot them before does not count yet.
 */
final class Truth {

    private final World world;
    private final Plan plan;
    private final List<Site> sites;
    /** By key and token: when a grant was asked for, at the latest a margin before. */
    private final Map<String, Long> seen = new HashMap<>();

    Truth(World world, Plan plan, List<Site> sites) {
        this.world = world;
        this.plan = plan;
        this.sites = sites;
    }

    /** Why it cannot be held for as long as the flow believes, or null. */
    @Nullable
    String against(Holding hold) {
        if (!plan.store().isQuorum()) {
            Site site = sites.get(0);
            LockInfo shown = site.inspect(hold.key);
            return holders(shown)
                    .filter(held -> held.fencingToken() == hold.granted())
                    .findFirst()
                    .map(held -> tooLong(hold, held))
                    .orElseGet(() -> Optional.of(hold + " is held, and the store says " + brief(shown)))
                    .orElse(null);
        }
        String grant = hold.key + " " + hold.granted();
        long asked = Math.min(world.now(), hold.until() - plan.lease().toNanos());
        Long before = seen.putIfAbsent(grant, asked);
        boolean isNew = before == null;
        long since = isNew ? asked : before;
        String says = "";
        int keep = 0;
        for (Site site : sites) {
            if (site.since() > since) {
                keep++;
                continue;
            }
            LockInfo shown = site.inspect(hold.key);
            boolean counts =
                    !isNew || world.now() - site.since() >= plan.longestLease().toNanos();
            boolean keeps = holders(shown)
                    .anyMatch(held ->
                            hold.isOf(held.owner()) && tooLong(hold, held).isEmpty());
            if (counts && keeps) {
                keep++;
            } else {
                says += "; " + (counts ? "" : "too young, ") + brief(shown);
            }
        }
        return keep > sites.size() / 2
                ? null
                : hold + " is held until " + seconds(hold.until()) + " and " + keep + " nodes keep it" + says;
    }

    static Stream<LockInfo.Holder> holders(LockInfo shown) {
        if (!(shown instanceof LockInfo.Held held)) {
            return Stream.empty();
        }
        LockInfo.Shares shares = held.shares();
        return shares == null
                ? Stream.of(new LockInfo.Holder(held.owner(), 1, held.fencingToken(), held.remaining()))
                : shares.first().stream();
    }

    private Optional<String> tooLong(Holding hold, LockInfo.Holder held) {
        if (hold.isShared && held.units() != hold.share.units()) {
            return Optional.of(hold + " is held, and at the store " + held.units() + " units");
        }
        long until = world.now() + held.remaining().toNanos();
        return hold.until() - until <= Duration.ofMillis(1).toNanos()
                ? Optional.empty()
                : Optional.of(hold + " is held until " + seconds(hold.until()) + ", and at the store until "
                        + seconds(until));
    }

    static String brief(LockInfo shown) {
        String all = holders(shown)
                .map(held -> held.fencingToken() + " of " + held.owner() + " for " + held.remaining())
                .collect(Collectors.joining(", "));
        return all.isEmpty() ? "free" : all;
    }

    private static String seconds(long nanos) {
        return String.format("%.6f s", nanos / 1e9);
    }
}
