package io.github.reactivelock.quorum;

import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo.Holder;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Turns what nodes tell and what their majority shows into events. A release that a majority tells of is believed as it
 * is; that an owner is new is seen by looking, since a vote alone makes no owner. The last look counts: one that is not
 * certain is followed by another, because no push may follow, and one that shows a holder which an earlier look did not
 * show any more is believed too. One subscription's own, used by one thread at a time.
 */
final class Events {

    /** Most holders of shares to remember, until a claim has the whole. */
    private static final int MOST_REMEMBERED = 1_000;

    private static final int LONGEST_IN_MOMENTS = 8;

    private final String key;
    private final int majority;
    private final Set<Integer> pushing = new HashSet<>();
    /** By token, as nodes tell of them. */
    private final Map<Long, LockEvent.Acquired> told = new LinkedHashMap<>();

    private final Map<Long, Set<Integer>> releases = new LinkedHashMap<>();
    private boolean begun;
    /** A look that is followed by another one. */
    private @Nullable View uncertain;
    /** How long from a look that is not certain to the next one. */
    private int moments = 1;

    /** By token. */
    private final Map<Long, Holder> open = new LinkedHashMap<>();

    private final Set<Long> ended = new LinkedHashSet<>();
    /**
     * Of those that ended: what looks did not show any more. Nodes answer one after the other, so a look may be torn.
     */
    private final Set<Long> missed = new LinkedHashSet<>();

    private long newest;
    /** Each hold older than a hold of the whole has ended. */
    private long newestWhole;

    Events(String key, int nodes) {
        this.key = key;
        this.majority = nodes / 2 + 1;
    }

    /** What a node tells; events that follow from it without a look. */
    List<LockEvent> told(int node, LockEvent event) {
        if (event instanceof LockEvent.Snapshot) {
            pushing.add(node);
        } else if (isOfAVote(event)) {
            return List.of();
        } else if (event instanceof LockEvent.Acquired acquired) {
            told.put(acquired.fencingToken(), acquired);
            forgetOldest(told.keySet());
        } else if (event instanceof LockEvent.Released released && !isPast(released.fencingToken(), released.units())) {
            long token = released.fencingToken();
            Set<Integer> nodes = releases.computeIfAbsent(token, t -> new HashSet<>());
            nodes.add(node);
            forgetOldest(releases.keySet());
            if (nodes.size() >= majority) {
                List<LockEvent> events = new ArrayList<>();
                opened(named(released), events);
                closed(token, events);
                return begun ? events : List.of();
            }
        }
        return List.of();
    }

    /** A node gave this number by itself. */
    private static boolean isOfAVote(LockEvent event) {
        return (event instanceof LockEvent.Acquired acquired && !QuorumNode.mayBeAGrants(acquired.fencingToken()))
                || (event instanceof LockEvent.Released released && !QuorumNode.mayBeAGrants(released.fencingToken()));
    }

    private Holder named(LockEvent.Released released) {
        LockEvent.Acquired acquired = told.get(released.fencingToken());
        String owner = acquired == null ? "" : acquired.owner();
        return new Holder(owner, released.units(), released.fencingToken(), Duration.ZERO);
    }

    /** Looks take time: an end may arrive when a look has shown an owner that came later. */
    private boolean isPast(long token, int units) {
        boolean isWhole = units == Share.WHOLE.units();
        return !open.containsKey(token)
                && (ended.contains(token) || token <= newestWhole || (isWhole && token <= newest));
    }

    /** What a look at all nodes showed. If that is not certain, another look is asked for, unless one is on its way. */
    List<LockEvent> seen(View view, IntConsumer again) {
        if (uncertain == null && !view.isCertain() && !isKnown(view)) {
            moments = 1;
            lookAgain(view, again);
        }
        return seen(view, view.isCertain());
    }

    /**
     * What the other look showed, and the next one if that may show more. A new watcher gets the state of a lock in any
     * case, unless silent nodes decide whose it is.
     */
    List<LockEvent> seenAgain(View view, IntConsumer again) {
        View later = uncertain == null ? view : view.after(uncertain);
        uncertain = null;
        boolean isLeftOpen = !begun && pushing.size() >= majority && later.isUndecided();
        if (isLeftOpen || (begun && view.isPassing() && !isKnown(view))) {
            lookAgain(view, again);
        }
        return isLeftOpen ? List.of() : seen(later, later.isCertain() || !begun);
    }

    private void lookAgain(View view, IntConsumer again) {
        uncertain = view;
        again.accept(moments);
        moments = Math.min(2 * moments, LONGEST_IN_MOMENTS);
    }

    /** Where numbers differ, the owner that is known is still that as long as a node shows its token. */
    private boolean isKnown(View view) {
        return !view.isOpen()
                && view.likely().stream()
                        .allMatch(likely -> open.values().stream()
                                .anyMatch(known ->
                                        known.owner().equals(likely.owner()) && view.shows(known.fencingToken())));
    }

    /** Until a majority pushes, a release could go by that too few tell of. */
    private List<LockEvent> seen(View view, boolean isAll) {
        if (pushing.size() < majority || (!begun && !isAll)) {
            return List.of();
        }
        List<LockEvent> events = new ArrayList<>();
        if (isAll) {
            for (long token : List.copyOf(open.keySet())) {
                if (view.holders().stream().noneMatch(holder -> holder.fencingToken() == token)) {
                    closed(token, events);
                    missed.add(token);
                    forgetOldest(missed);
                }
            }
        }
        view.holders().stream()
                .sorted(Comparator.comparingLong(Holder::fencingToken))
                .forEach(holder -> opened(holder, events));
        if (!begun) {
            begun = true;
            return List.of(new LockEvent.Snapshot(view.info()));
        }
        return events;
    }

    private void opened(Holder holder, List<LockEvent> events) {
        long token = holder.fencingToken();
        if (open.containsKey(token) || (isPast(token, holder.units()) && !missed.contains(token))) {
            return;
        }
        boolean isWhole = holder.units() == Share.WHOLE.units();
        List.copyOf(open.values()).stream()
                .filter(known -> isWhole || known.units() == Share.WHOLE.units())
                .forEach(known -> closed(known.fencingToken(), events));
        open.put(token, holder);
        ended.remove(token);
        missed.remove(token);
        newest = Math.max(newest, token);
        if (isWhole) {
            newestWhole = token;
            ended.clear();
            missed.clear();
            told.keySet().removeIf(older -> older < token);
            releases.keySet().removeIf(older -> older < token);
        }
        events.add(new LockEvent.Acquired(key, holder.owner(), token, holder.units()));
    }

    private void closed(long token, List<LockEvent> events) {
        Holder last = open.remove(token);
        if (last != null) {
            ended.add(token);
            forgetOldest(ended);
            releases.remove(token);
            events.add(new LockEvent.Released(key, token, last.units()));
        }
    }

    private static <T> void forgetOldest(Set<T> known) {
        if (known.size() > MOST_REMEMBERED) {
            Iterator<T> oldest = known.iterator();
            oldest.next();
            oldest.remove();
        }
    }
}
