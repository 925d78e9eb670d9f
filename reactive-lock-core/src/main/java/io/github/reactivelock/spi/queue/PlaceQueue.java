package io.github.reactivelock.spi.queue;

import io.github.reactivelock.state.Share;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The claims of one lock in their order, decided from nothing but their places ({@link LockQueue}). It is indexed once,
 * so that one look at a long queue serves many claims. Immutable.
 *
 * @param <P> a place in the queue
 */
public final class PlaceQueue<P extends Place> {

    private final LockQueue<P> queue;
    /** The first place of each claim. */
    private final Map<String, Integer> first;
    /** The claims with further places. */
    private final Set<String> repeated = new HashSet<>(0);
    /** For each place, the last one before it of a claim for the whole, or -1. */
    private final List<Integer> lastWhole;

    private PlaceQueue(List<P> places) {
        this.queue = LockQueue.of(places, Place::share);
        this.first = new HashMap<>(places.size() * 2);
        this.lastWhole = new ArrayList<>(places.size());
        int whole = -1;
        for (int i = 0; i < places.size(); i++) {
            P place = places.get(i);
            if (first.putIfAbsent(place.claimId(), i) != null) {
                repeated.add(place.claimId());
            }
            lastWhole.add(whole);
            whole = place.share().isWhole() ? i : whole;
        }
    }

    /**
     * A queue of these claims.
     *
     * @param places first come first
     * @param <P> a place in the queue
     * @return the queue
     */
    public static <P extends Place> PlaceQueue<P> of(List<P> places) {
        return new PlaceQueue<>(List.copyOf(places));
    }

    /** {@return all claims, first come first} */
    public List<P> places() {
        return queue.claims();
    }

    /** {@return those that hold the lock, first come first} */
    public List<P> held() {
        return queue.holders();
    }

    /** {@return those that hold the lock, last come first} */
    public Stream<P> newestHolders() {
        List<P> held = held();
        return IntStream.rangeClosed(1, held.size()).mapToObj(i -> held.get(held.size() - i));
    }

    /** {@return the others, first come first} */
    public List<P> waiting() {
        return queue.waiting();
    }

    /** {@return how many units those have that hold the lock} */
    public long units() {
        return queue.units();
    }

    /**
     * Whether a claim that came now would be in.
     *
     * @param share how much it takes
     * @return false if others wait, or if it does not fit beside those that are in
     */
    public boolean admits(Share share) {
        return queue.admits(share);
    }

    /**
     * Whether a claim that only tries should come: as {@link #admits}, or if it would call the only one back that is
     * there.
     *
     * @param share how much it takes
     * @return false if it would be refused at once
     */
    public boolean admitsTry(Share share) {
        return admits(share) || (places().size() == 1 && places().get(0).isRecallable());
    }

    /**
     * The owner that a claim calls back. Those further behind rely on the one that is next.
     *
     * @param position of the claim
     * @return the owner, or empty if that cannot be called back, or another claim is next
     */
    public Optional<P> calledBackFrom(QueuePosition<P> position) {
        return Optional.ofNullable(position.predecessor())
                .filter(before -> before.isRecallable() && before.equals(places().get(0)));
    }

    /**
     * Whether a claim is in this queue.
     *
     * @param claimId the claim's id
     * @return true for one that holds the lock, too
     */
    public boolean has(String claimId) {
        return first.containsKey(claimId);
    }

    /**
     * Where a claim stands.
     *
     * @param claimId the claim's id
     * @return its first place, or none
     */
    public QueuePosition<P> position(String claimId) {
        Integer at = first.get(claimId);
        if (at == null) {
            return new QueuePosition<>(null, false, null, null, List.of());
        }
        List<P> places = places();
        int whole = lastWhole.get(at);
        List<P> surplus = repeated.contains(claimId)
                ? places.subList(at + 1, places.size()).stream()
                        .filter(place -> place.claimId().equals(claimId))
                        .toList()
                : List.of();
        return new QueuePosition<>(
                places.get(at),
                at < queue.in(),
                at == 0 ? null : places.get(at - 1),
                whole < 0 ? null : places.get(whole),
                surplus);
    }
}
