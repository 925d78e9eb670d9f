package io.github.reactivelock.examples.webflux;

import io.github.reactivelock.examples.webflux.shop.Happening;
import io.github.reactivelock.examples.webflux.shop.Happening.What;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One item as the page shows it. Immutable. Word of two tills comes in any order, so a hold is known by its order, and not by
 * when it was heard of.
 *
 * @param item the item
 * @param state of its lock
 * @param sold the number sold
 * @param waiting orders that wait, the longest first
 * @param served orders that got the lock, the latest first; at most a few
 */
record Lane(String item, State state, int sold, List<Waiting> waiting, List<Served> served) {

    private static final int KEPT = 7;

    /** What is known of a lock. */
    enum State {
        FREE,
        HELD,
        AT_RISK,
        /** Its holder was killed; the lock is free when the lease is over. */
        ABANDONED
    }

    static Lane empty(String item) {
        return new Lane(item, State.FREE, 0, List.of(), List.of());
    }

    Lane heard(String till, Happening news) {
        boolean now = !served.isEmpty() && served.get(0).order() == news.order();
        return switch (news.what()) {
            case OPEN -> this;
            case WAITING -> waiting(till, news);
            case LEFT -> withoutWaiting(news.order());
            case ACQUIRED -> acquired(till, news);
            case AT_RISK -> now ? with(State.AT_RISK) : this;
            case SAFE -> now ? with(State.HELD) : this;
            case RELEASED, LOST -> ended(news).with(now ? State.FREE : state);
        };
    }

    private Lane waiting(String till, Happening news) {
        List<Waiting> longer = new ArrayList<>(waiting);
        longer.add(new Waiting(news.order(), till, news.at()));
        return new Lane(item, state, sold, List.copyOf(longer), served);
    }

    private Lane withoutWaiting(int order) {
        List<Waiting> others =
                waiting.stream().filter(one -> one.order() != order).toList();
        return new Lane(item, state, sold, others, served);
    }

    private Lane acquired(String till, Happening news) {
        long asked = waiting.stream()
                .filter(one -> one.order() == news.order())
                .mapToLong(Waiting::since)
                .findFirst()
                .orElse(news.at());
        Served holder = Served.of(till, news, asked);
        boolean isLatest = served.isEmpty() || served.get(0).tokenNumber() < holder.tokenNumber();
        List<Served> longer = Stream.concat(Stream.of(holder), served.stream())
                .sorted((one, other) -> Long.compare(other.tokenNumber(), one.tokenNumber()))
                .limit(KEPT)
                .toList();
        Lane shorter = withoutWaiting(news.order());
        return new Lane(item, isLatest ? State.HELD : state, sold, shorter.waiting, longer).linked();
    }

    private Lane ended(Happening news) {
        String outcome = news.what() == What.LOST ? "lost: " + news.why() : "done";
        return replaced(one -> one.order() == news.order() ? one.ended(news.at(), outcome) : one);
    }

    /** A till that was killed: its orders wait no longer, and its hold is over when the lease is. */
    Lane killed(String till) {
        List<Waiting> others =
                waiting.stream().filter(one -> !one.till().equals(till)).toList();
        boolean heldIt = taken() && served.get(0).till().equals(till);
        return new Lane(item, heldIt ? State.ABANDONED : state, sold, others, served)
                .replaced(one -> one.till().equals(till) && one.outcome().isEmpty() ? one.ended(0, "killed") : one);
    }

    /** The store says that the hold of an order is over, which its till could not say any more. */
    Lane leaseOver(int order) {
        return state == State.ABANDONED && served.get(0).order() == order ? with(State.FREE) : this;
    }

    Lane sold(int count) {
        return new Lane(item, state, Math.max(sold, count), waiting, served);
    }

    boolean taken() {
        return state != State.FREE;
    }

    /** Who holds the lock; null if nobody does. */
    @Nullable
    Served holder() {
        return taken() ? served.get(0) : null;
    }

    private Lane with(State other) {
        return new Lane(item, other, sold, waiting, served);
    }

    private Lane replaced(UnaryOperator<Served> change) {
        return new Lane(item, state, sold, waiting, served.stream().map(change).toList()).linked();
    }

    /** With what each order knows of the one before it. */
    private Lane linked() {
        List<Served> linked = new ArrayList<>();
        for (int i = 0; i < served.size(); i++) {
            linked.add(i + 1 < served.size() ? served.get(i).after(served.get(i + 1)) : served.get(i));
        }
        return new Lane(item, state, sold, waiting, List.copyOf(linked));
    }

    /**
     * An order in the line.
     *
     * @param order its number
     * @param till where it was placed
     * @param since when
     */
    record Waiting(int order, String till, long since) {}
}
