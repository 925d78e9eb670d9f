package io.github.reactivelock.engine.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Door;
import io.github.reactivelock.GatedBackend;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.TestTime;
import io.github.reactivelock.memory.InMemoryLockBackend;
import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Flows that take a lock of their own again and again, over a store that works through its questions one after the
 * other, also through those that are not waited for any more.
 */
class OverloadTest {

    private static final int SECOND = 100;
    /** Of which the store keeps up with each: a claim and a release wait for one second and a half. */
    private static final int FLOWS = 150;

    private static final int STALL = 10 * SECOND;

    private final TestTime time = new TestTime();
    private final GatedBackend store = new GatedBackend(InMemoryLockBackend.create(time::nanos));
    private long acquired;

    OverloadTest() {
        store.shut();
    }

    private LockClient client() {
        return Door.timing(LockClient.builder(store), time)
                .workScheduler(Schedulers.immediate())
                .build();
    }

    private void flows(LockClient client, int count) {
        IntStream.range(0, count).forEach(i -> {
            var unused = client.withLock(client.hashCode() + "-" + i, Mono.fromRunnable(() -> acquired++))
                    .onErrorComplete()
                    .repeat()
                    .subscribe();
        });
    }

    /** The store answers one question at a time, a hundred a second. */
    private void work(int questions) {
        for (int i = 0; i < questions; i++) {
            time.advance(Duration.ofSeconds(1).dividedBy(SECOND));
            var unused = store.letOneThrough();
        }
    }

    private void stall() {
        for (int i = 0; i < STALL; i++) {
            time.advance(Duration.ofSeconds(1).dividedBy(SECOND));
        }
    }

    private long acquiredIn(int questions) {
        long before = acquired;
        work(questions);
        return acquired - before;
    }

    private void assertThatItRecovers() {
        long inTime = acquiredIn(20 * SECOND);
        assertThat(inTime).isGreaterThan(5 * SECOND);
        stall();
        assertThat(acquiredIn(SECOND)).isZero();

        work(60 * SECOND);

        assertThat(acquiredIn(20 * SECOND)).isGreaterThan(inTime * 3 / 4);
        assertThat(store.waiting()).isLessThan(2 * FLOWS);
    }

    @Test
    void aStoreThatStoodStillCatchesUpWithClaimsAskedAgainAtOnce() {
        flows(client(), FLOWS);

        assertThatItRecovers();
    }

    @Test
    void aStoreOfManyClientsCatchesUpToo() {
        for (int i = 0; i < 5; i++) {
            flows(client(), FLOWS / 5);
        }

        assertThatItRecovers();
    }

    @Test
    void moreFlowsThanTheStoreAnswersInTimeDoNotStopAll() {
        flows(client(), 4 * FLOWS);
        work(60 * SECOND);

        assertThat(acquiredIn(120 * SECOND)).isGreaterThan(120 * SECOND / 8);
        assertThat(store.waiting()).isLessThan(8 * FLOWS);
    }

    @Test
    void flowsThatGiveUpEarlyDoNotMakeTheStoreLaterAndLater() {
        LockClient client = client();
        flows(client.with(client.options().withWaitTimeout(Duration.ofSeconds(1))), 2 * FLOWS);
        work(60 * SECOND);
        int behind = store.waiting();

        work(240 * SECOND);

        assertThat(store.waiting()).isLessThan(Math.max(behind, 8 * FLOWS));
    }
}
