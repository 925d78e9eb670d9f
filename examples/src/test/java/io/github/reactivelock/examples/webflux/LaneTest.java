package io.github.reactivelock.examples.webflux;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.state.LockEvent;
import org.junit.jupiter.api.Test;

class LaneTest {

    private static final Order ORDER = new Order(1, "till-1", "bread", 0);

    @Test
    void anOrderWaitsUntilItIsServed() {
        Lane waiting = Lane.empty("bread").asked(ORDER);
        Lane served = waiting.started(ORDER, new Receipt(1, "till-1", "9", null, null));

        assertThat(waiting.waiting()).containsExactly(new Lane.Waiting(1, "till-1"));
        assertThat(served.waiting()).isEmpty();
        assertThat(served.served()).extracting(Receipt::order).containsExactly(1);
    }

    @Test
    void anOrderThatGivesUpIsNotServed() {
        Lane left = Lane.empty("bread").asked(ORDER).left(ORDER);

        assertThat(left).isEqualTo(Lane.empty("bread"));
    }

    @Test
    void wordOfAnEarlierReleaseDoesNotTakeTheLockFromItsHolder() {
        Lane held = Lane.empty("bread").told(new LockEvent.Acquired("bread", "till-2", 9));

        assertThat(held.told(new LockEvent.Released("bread", 8)).holder()).isEqualTo("till-2");
        assertThat(held.told(new LockEvent.Released("bread", 9)).holder()).isEmpty();
    }
}
