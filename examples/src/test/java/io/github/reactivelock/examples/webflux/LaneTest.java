package io.github.reactivelock.examples.webflux;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.examples.webflux.Lane.State;
import io.github.reactivelock.examples.webflux.shop.Happening;
import io.github.reactivelock.examples.webflux.shop.Happening.What;
import org.junit.jupiter.api.Test;

class LaneTest {

    private static final Lane EMPTY = Lane.empty("bread");

    private static Happening news(What what, int order, long at) {
        return new Happening(what, "bread", order, what == What.WAITING ? "" : Integer.toString(10 + order), at, "why");
    }

    private static Lane held(int order) {
        return EMPTY.heard("till-1", news(What.WAITING, order, 1_000))
                .heard("till-1", news(What.ACQUIRED, order, 2_000));
    }

    @Test
    void anOrderWaitsUntilItHasTheLock() {
        Lane waiting = EMPTY.heard("till-1", news(What.WAITING, 1, 1_000));
        Lane held = waiting.heard("till-1", news(What.ACQUIRED, 1, 2_000));

        assertThat(waiting.waiting()).containsExactly(new Lane.Waiting(1, "till-1", 1_000));
        assertThat(waiting.state()).isEqualTo(State.FREE);
        assertThat(held.waiting()).isEmpty();
        assertThat(held.state()).isEqualTo(State.HELD);
        assertThat(held.holder().till()).isEqualTo("till-1");
    }

    @Test
    void anOrderThatGivesUpIsNotServed() {
        Lane left = EMPTY.heard("till-1", news(What.WAITING, 1, 1_000)).heard("till-1", news(What.LEFT, 1, 2_000));

        assertThat(left).isEqualTo(EMPTY);
    }

    @Test
    void aHandOverIsMeasuredWhicheverTillIsHeardFirst() {
        Lane both = held(1).heard("till-2", news(What.WAITING, 2, 3_000));
        Happening released = news(What.RELEASED, 1, 5_000);
        Happening acquired = news(What.ACQUIRED, 2, 5_700);

        Lane inOrder = both.heard("till-1", released).heard("till-2", acquired);
        Lane crossed = both.heard("till-2", acquired).heard("till-1", released);

        assertThat(inOrder).isEqualTo(crossed);
        assertThat(inOrder.state()).isEqualTo(State.HELD);
        assertThat(inOrder.served()).extracting(Served::order).containsExactly(2, 1);
        assertThat(inOrder.served().get(0).before()).isEqualTo("till-1");
        assertThat(inOrder.served().get(0).handOverMillis()).isEqualTo(0.7);
        assertThat(inOrder.served().get(1).outcome()).isEqualTo("done");
    }

    @Test
    void whoFindsTheLockFreeTookNothingOver() {
        Lane later = held(1).heard("till-1", news(What.RELEASED, 1, 3_000))
                .heard("till-2", news(What.WAITING, 2, 4_000))
                .heard("till-2", news(What.ACQUIRED, 2, 4_500));

        assertThat(later.served().get(0).handOverMillis()).isNull();
    }

    @Test
    void aHoldIsAtRiskAndSafeAgainOrLost() {
        Lane risky = held(1).heard("till-1", news(What.AT_RISK, 1, 3_000));

        assertThat(risky.state()).isEqualTo(State.AT_RISK);
        assertThat(risky.heard("till-1", news(What.SAFE, 1, 4_000)).state()).isEqualTo(State.HELD);
        Lane lost = risky.heard("till-1", news(What.LOST, 1, 4_000));
        assertThat(lost.state()).isEqualTo(State.FREE);
        assertThat(lost.served().get(0).outcome()).isEqualTo("lost: why");
    }

    @Test
    void aTillThatWasKilledLeavesItsLockUntilItsLeaseIsOver() {
        Lane killed = held(1).heard("till-1", news(What.WAITING, 3, 2_500))
                .heard("till-2", news(What.WAITING, 2, 3_000))
                .killed("till-1");

        assertThat(killed.state()).isEqualTo(State.ABANDONED);
        assertThat(killed.waiting()).extracting(Lane.Waiting::order).containsExactly(2);
        assertThat(killed.served().get(0).outcome()).isEqualTo("killed");
        assertThat(killed.leaseOver(1).state()).isEqualTo(State.FREE);

        Lane next = killed.heard("till-2", news(What.ACQUIRED, 2, 9_000));
        assertThat(next.state()).isEqualTo(State.HELD);
        assertThat(next.leaseOver(1)).isEqualTo(next);
        assertThat(held(1).killed("till-2")).isEqualTo(held(1));
    }
}
