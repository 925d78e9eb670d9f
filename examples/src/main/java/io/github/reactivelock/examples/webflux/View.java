package io.github.reactivelock.examples.webflux;

import io.github.reactivelock.examples.webflux.shop.Numbers;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * All that the page shows. Immutable.
 *
 * @param lanes the items
 * @param tills the tills
 * @param outages whether Redis can be held up
 */
record View(List<Lane> lanes, List<Till> tills, boolean outages) {

    /**
     * A till.
     *
     * @param name its name, by which the store knows it
     * @param state of its process
     * @param numbers its metrics, from its last start on
     */
    record Till(String name, State state, Numbers numbers) {}

    /** Of a process. */
    enum State {
        DOWN,
        STARTING,
        UP
    }

    static View of(List<String> items, List<String> tills, boolean outages) {
        return new View(
                items.stream().map(Lane::empty).toList(),
                tills.stream()
                        .map(name -> new Till(name, State.DOWN, Numbers.NONE))
                        .toList(),
                outages);
    }

    View lane(String item, UnaryOperator<Lane> change) {
        return new View(
                lanes.stream()
                        .map(lane -> lane.item().equals(item) ? change.apply(lane) : lane)
                        .toList(),
                tills,
                outages);
    }

    View everyLane(UnaryOperator<Lane> change) {
        return new View(lanes.stream().map(change).toList(), tills, outages);
    }

    View till(String name, State state) {
        return change(name, till -> new Till(name, state, state == State.STARTING ? Numbers.NONE : till.numbers()));
    }

    View till(String name, Numbers numbers) {
        return change(name, till -> new Till(name, till.state(), numbers));
    }

    private View change(String name, UnaryOperator<Till> change) {
        return new View(
                lanes,
                tills.stream()
                        .map(till -> till.name().equals(name) ? change.apply(till) : till)
                        .toList(),
                outages);
    }
}
