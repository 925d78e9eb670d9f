package io.github.reactivelock.quorum;

import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Turns what nodes tell and what their majority shows into events. A release that a majority tells of is believed as it
 * is; that an owner is new is seen by looking, since a vote alone makes no owner. One subscription's own, used by one
 * thread at a time.
 */
final class Watch {

    private final String key;
    private final int majority;
    private final Set<Integer> pushing = new HashSet<>();
    private final Map<Integer, String> lastOwners = new HashMap<>();
    private final Map<Long, Set<Integer>> releases = new HashMap<>();
    private boolean begun;
    private LockInfo.@Nullable Held open;
    private long ended;

    Watch(String key, int nodes) {
        this.key = key;
        this.majority = nodes / 2 + 1;
    }

    /** What a node tells; events that follow from it without a look. */
    List<LockEvent> told(int node, LockEvent event) {
        if (event instanceof LockEvent.Snapshot) {
            pushing.add(node);
        } else if (event instanceof LockEvent.Acquired acquired) {
            lastOwners.put(node, acquired.owner());
        } else if (event instanceof LockEvent.Released released && isNews(released.fencingToken())) {
            long token = released.fencingToken();
            Set<Integer> nodes = releases.computeIfAbsent(token, t -> new HashSet<>());
            nodes.add(node);
            if (nodes.size() >= majority) {
                String owner = lastOwners.getOrDefault(node, "");
                List<LockEvent> events = new ArrayList<>(opened(owner, token));
                events.addAll(closed());
                return events;
            }
        }
        return List.of();
    }

    /** Looks take time: an end may be heard of when one has shown an owner that came later. */
    private boolean isNews(long token) {
        return token > ended && (open == null || token >= open.fencingToken());
    }

    /**
     * What to see where no majority shows the same: the last owner, if a majority is still its and shows its token or a number of
     * its own, as a node does that was not needed for the grant.
     */
    LockInfo lastOr(LockInfo otherwise, List<LockInfo> shown) {
        LockInfo.Held last = open;
        if (last == null) {
            return otherwise;
        }
        List<Long> tokens = shown.stream()
                .filter(LockInfo.Held.class::isInstance)
                .map(LockInfo.Held.class::cast)
                .filter(held -> held.owner().equals(last.owner()))
                .map(LockInfo.Held::fencingToken)
                .toList();
        return tokens.size() >= majority && tokens.contains(last.fencingToken()) ? last : otherwise;
    }

    /** What a look at all nodes showed. Until a majority pushes, a release could go by that too few tell of. */
    List<LockEvent> seen(LockInfo now) {
        if (pushing.size() < majority) {
            return List.of();
        }
        if (!begun) {
            begun = true;
            open = now instanceof LockInfo.Held held ? held : null;
            return List.of(new LockEvent.Snapshot(now));
        }
        if (now instanceof LockInfo.Held held) {
            return opened(held.owner(), held.fencingToken());
        }
        return closed();
    }

    private List<LockEvent> opened(String owner, long token) {
        if (token <= ended || (open != null && open.fencingToken() == token)) {
            return List.of();
        }
        List<LockEvent> events = new ArrayList<>(closed());
        open = new LockInfo.Held(key, owner, token, Duration.ZERO, 0);
        events.add(new LockEvent.Acquired(key, owner, token));
        return events;
    }

    private List<LockEvent> closed() {
        LockInfo.Held last = open;
        if (last == null) {
            return List.of();
        }
        open = null;
        ended = last.fencingToken();
        releases.keySet().removeIf(token -> token <= ended);
        return List.of(new LockEvent.Released(key, ended));
    }
}
