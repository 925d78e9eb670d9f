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
    /** A look that is followed by another one. */
    private @Nullable View uncertain;

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

    /** What a look at all nodes showed. If that is not certain, another look is asked for, unless one is on its way. */
    List<LockEvent> seen(View view, Runnable again) {
        if (isCertain(view)) {
            return seen(view.certain());
        }
        if (uncertain == null) {
            uncertain = view;
            again.run();
        }
        return List.of();
    }

    /** What the other look showed. Who watches hears of a lock in any case; later, nothing has happened that is not certain. */
    List<LockEvent> seenAgain(View view) {
        View later = uncertain == null ? view : view.after(uncertain);
        uncertain = null;
        return isCertain(later) || begun ? seen(later.certain()) : seen(new LockInfo.Free(key));
    }

    /** Where numbers differ, the owner that is known is still that as long as a node shows its token. */
    private boolean isCertain(View view) {
        LockInfo.Held likely = view.likely();
        return view.certain() != null
                || (open != null
                        && likely != null
                        && open.owner().equals(likely.owner())
                        && view.shows(open.fencingToken()));
    }

    /** Until a majority pushes, a release could go by that too few tell of. */
    private List<LockEvent> seen(@Nullable LockInfo now) {
        if (now == null || pushing.size() < majority) {
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
