package io.github.reactivelock.examples.webflux.front;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.examples.webflux.shop.Activity;
import io.github.reactivelock.examples.webflux.shop.LockUse;
import io.github.reactivelock.examples.webflux.shop.LockUse.State;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class FleetTest {

    private static final String KEY = "item:bread";
    private static final long SECOND = 1_000_000;

    private static final Fleet NEW =
            Fleet.of(List.of("shop-1", "shop-2")).running("shop-1", "a").running("shop-2", "b");

    @Test
    void nothingHasEndedBeforeTheFirstStart() {
        assertThat(Fleet.of(List.of("shop-1", "shop-2")).view().instances())
                .extracting(View.Instance::status)
                .containsOnly("starting");
    }

    @Test
    void aCustomerWaitsUntilServed() {
        Fleet waiting = NEW.told("shop-1", does(use(1, State.WAITS, 0, 10, 0, 0)));
        Fleet served = waiting.told("shop-1", does(use(1, State.HOLDS, 9, 10, 20, 0)));

        assertThat(bread(waiting).waiting()).containsExactly(new View.Waiting("shop-1", 1));
        assertThat(waiting.view().instances().get(0).waiting()).isEqualTo(1);
        assertThat(bread(served).waiting()).isEmpty();
        assertThat(served.view().instances().get(0).holding()).isEqualTo(1);
        assertThat(bread(served).served()).containsExactly(new View.Served("shop-1", "9", "holds", null, null));
    }

    @Test
    void customersOfAllInstancesStandInOneQueueByTheTimeTheyCame() {
        Fleet waiting = NEW.told("shop-1", does(use(1, State.WAITS, 0, 30, 0, 0), use(2, State.WAITS, 0, 10, 0, 0)))
                .told("shop-2", does(use(1, State.WAITS, 0, 20, 0, 0)));

        assertThat(bread(waiting).waiting())
                .containsExactly(
                        new View.Waiting("shop-1", 2), new View.Waiting("shop-2", 1), new View.Waiting("shop-1", 1));
    }

    @Test
    void aCustomerWhoGivesUpIsNotServed() {
        Fleet left = NEW.told("shop-1", does(use(1, State.WAITS, 0, 10, 0, 0))).told("shop-1", does());

        assertThat(bread(left)).isEqualTo(bread(NEW));
    }

    @Test
    void wordOfAnEarlierReleaseDoesNotTakeTheLockFromItsHolder() {
        Fleet held = NEW.told("bread", new LockEvent.Acquired(KEY, "shop-2", 9), 0);

        assertThat(bread(held.told("bread", new LockEvent.Released(KEY, 8), 0)).holder())
                .isEqualTo("shop-2");
        assertThat(bread(held.told("bread", new LockEvent.Released(KEY, 9), 0)).holder())
                .isEmpty();
    }

    @Test
    void aPageThatIsOpenedLateLearnsTheHolderFromTheStore() {
        LockInfo held = new LockInfo.Held(KEY, "shop-2", 9, Duration.ofSeconds(1), 0);

        assertThat(bread(NEW.told("bread", new LockEvent.Snapshot(held), 0)).holder())
                .isEqualTo("shop-2");
    }

    @Test
    void aHandOverLastsFromTheEndOfOneWorkToTheNextsBeginning() {
        Fleet both = NEW.told("shop-1", does(use(1, State.RELEASED, 5, 0, 0, 2 * SECOND)))
                .told("shop-2", does(use(1, State.HOLDS, 7, SECOND, 2 * SECOND + 1_500, 0)));

        assertThat(bread(both).served().get(0)).isEqualTo(new View.Served("shop-2", "7", "holds", "shop-1", 1.5));
    }

    @Test
    void whoeverCameAfterTheEndTookNothingOver() {
        Fleet both = NEW.told("shop-1", does(use(1, State.RELEASED, 5, 0, 0, SECOND)))
                .told("shop-2", does(use(1, State.HOLDS, 7, 2 * SECOND, 2 * SECOND + 100, 0)));

        assertThat(bread(both).served().get(0)).isEqualTo(new View.Served("shop-2", "7", "holds", null, null));
    }

    @Test
    void aLockThatChangesInstancesIsCountedAndOneThatStaysIsNot() {
        Fleet moved = NEW.told("bread", new LockEvent.Acquired(KEY, "shop-1", 1), 0)
                .told("bread", new LockEvent.Acquired(KEY, "shop-1", 2), 0)
                .told("bread", new LockEvent.Acquired(KEY, "shop-2", 3), 0)
                .told("bread", new LockEvent.Released(KEY, 3), 0)
                .told("bread", new LockEvent.Acquired(KEY, "shop-1", 4), 0);

        assertThat(bread(moved).moves()).isEqualTo(2);
    }

    @Test
    void aKilledInstanceKeepsItsLockUntilTheStorePassesItOn() {
        Fleet killed = NEW.told("bread", new LockEvent.Acquired(KEY, "shop-1", 5), 0)
                .told("shop-1", does(use(1, State.HOLDS, 5, 0, 0, 0), use(2, State.WAITS, 0, 0, 0, 0)))
                .ended("shop-1", SECOND);
        Fleet moved = killed.told("bread", new LockEvent.Acquired(KEY, "shop-2", 7), 3 * SECOND)
                .told("shop-2", does(use(1, State.HOLDS, 7, 0, 3 * SECOND, 0)));

        assertThat(bread(killed).holder()).isEqualTo("shop-1");
        assertThat(bread(killed).waiting()).isEmpty();
        assertThat(lastNews(killed)).isEqualTo("shop-1 has ended while it held bread");
        assertThat(bread(moved).holder()).isEqualTo("shop-2");
        assertThat(bread(moved).served())
                .containsExactly(
                        new View.Served("shop-2", "7", "holds", "shop-1", 2_000.0),
                        new View.Served("shop-1", "5", "killed", null, null));
        assertThat(lastNews(moved)).isEqualTo("shop-2 has bread, 2.0 s after shop-1 was killed");
    }

    @Test
    void aKilledInstancesLockWithoutWaitersIsFreeOnceTheStoreReportsIt() {
        Fleet free = NEW.told("bread", new LockEvent.Acquired(KEY, "shop-1", 5), 0)
                .ended("shop-1", SECOND)
                .told("bread", new LockEvent.Released(KEY, 5), 4 * SECOND);

        assertThat(bread(free).holder()).isEmpty();
        assertThat(free.told("bread", new LockEvent.Acquired(KEY, "shop-2", 7), 9 * SECOND)
                        .news())
                .isEqualTo(free.news());
        assertThat(lastNews(free)).isEqualTo("bread is free, 3.0 s after shop-1 was killed");
    }

    @Test
    void aLockThatIsFreeForAMomentBetweenHoldsIsNoNews() {
        Fleet moved = NEW.told("bread", new LockEvent.Acquired(KEY, "shop-1", 5), 0)
                .told("shop-2", does(use(1, State.WAITS, 0, 0, 0, 0)))
                .ended("shop-1", SECOND)
                .told("bread", new LockEvent.Released(KEY, 5), 4 * SECOND)
                .told("bread", new LockEvent.Acquired(KEY, "shop-2", 7), 4 * SECOND);

        assertThat(moved.news())
                .extracting(View.News::text)
                .endsWith("shop-1 has ended while it held bread", "shop-2 has bread, 3.0 s after shop-1 was killed");
    }

    @Test
    void aHoldAtRiskShowsAtLaneAndInstanceAndIsReportedOnce() {
        LockUse use = use(1, State.AT_RISK, 5, 0, 0, 0);
        Fleet risky = NEW.told("bread", new LockEvent.Acquired(KEY, "shop-1", 5), 0)
                .told("shop-1", does(use))
                .told("shop-1", does(use));

        assertThat(bread(risky).atRisk()).isTrue();
        assertThat(risky.view().instances().get(0).atRisk()).isEqualTo(1);
        assertThat(risky.news()).extracting(View.News::text).containsOnlyOnce("shop-1 may soon lose bread");
    }

    @Test
    void aLossIsReportedWithItsReasonAndDoesNotTimeItsSuccessor() {
        LockUse lost = new LockUse(1, KEY, State.LOST, 5, 0, 0, 9 * SECOND, "its lease ran out");
        Fleet told = NEW.told("shop-2", does(use(1, State.HOLDS, 7, 0, 4 * SECOND, 0)))
                .told("shop-1", new Activity(List.of(lost), Map.of("reactive.lock.lost", 1.0)));

        assertThat(lastNews(told)).isEqualTo("shop-1 lost bread: its lease ran out");
        assertThat(told.view().instances().get(0).lost()).isEqualTo(1);
        assertThat(bread(told).served())
                .containsExactly(
                        new View.Served("shop-2", "7", "holds", "shop-1", null),
                        new View.Served("shop-1", "5", "lost: its lease ran out", null, null));
    }

    @Test
    void onlyARunningInstanceIsPausedAndOnlyAPausedOneGoesOn() {
        Fleet starting = NEW.ended("shop-1", SECOND).starting("shop-1");
        Fleet paused = NEW.paused("shop-1");

        assertThat(starting.paused("shop-1")).isEqualTo(starting);
        assertThat(starting.resumed("shop-1")).isEqualTo(starting);
        assertThat(paused.view().instances().get(0).status()).isEqualTo("paused");
        assertThat(paused.resumed("shop-1").view().instances().get(0).status()).isEqualTo("running");
    }

    @Test
    void theLastNewsAreKeptAndTheirNumbersRise() {
        Fleet told = NEW;
        for (int i = 0; i < 20; i++) {
            told = told.say("news " + i);
        }

        assertThat(told.news()).hasSize(8).last().isEqualTo(new View.News(22, "news 19"));
    }

    private static LockUse use(int number, State state, long token, long asked, long from, long to) {
        return new LockUse(number, KEY, state, token, asked, from, to, "");
    }

    private static Activity does(LockUse... uses) {
        return new Activity(List.of(uses), Map.of());
    }

    private static View.Lane bread(Fleet fleet) {
        return fleet.view().lanes().get(1);
    }

    private static String lastNews(Fleet fleet) {
        return fleet.news().get(fleet.news().size() - 1).text();
    }
}
