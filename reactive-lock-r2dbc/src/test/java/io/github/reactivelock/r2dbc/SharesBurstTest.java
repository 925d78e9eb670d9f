package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Many flows of three processes want permits of a few locks, or all of one, everything at its defaults: none fails. */
class SharesBurstTest {

    private static final int CLIENTS = 3;
    private static final int FLOWS = 400;
    private static final int LOCKS = 3;
    private static final int CAPACITY = 4;

    private final AtomicIntegerArray inUse = new AtomicIntegerArray(LOCKS);
    private final AtomicInteger most = new AtomicInteger();

    private void assertAllAreServed(Databases database) {
        try (database) {
            database.createTables();
            List<LockClient> clients = Stream.generate(
                            () -> LockClient.create(R2dbcLockBackend.connect(database.url())))
                    .limit(CLIENTS)
                    .toList();

            long served = Flux.range(0, FLOWS)
                    .flatMap(flow -> locked(clients.get(flow % CLIENTS), flow), FLOWS)
                    .count()
                    .block(Databases.LIMIT.multipliedBy(3));

            assertThat(served).isEqualTo(FLOWS);
            assertThat(most).hasValueLessThanOrEqualTo(CAPACITY);
            // A claim that no flow needs any more may be withdrawn a moment later.
            Databases.until("no share is left", () -> database.select(count("share")) == 0);
            Databases.until("none waits", () -> database.select(count("waiter")) == 0);
            Flux.fromIterable(clients).flatMap(LockClient::close).then().block(Databases.LIMIT);
        }
    }

    private static String count(String table) {
        return "SELECT count(*) FROM reactive_lock_" + table;
    }

    private Mono<Integer> locked(LockClient client, int flow) {
        int lock = flow % LOCKS;
        boolean wantsAll = flow % 11 == 0;
        int units = wantsAll ? CAPACITY : 1 + flow % 2;
        Mono<Integer> work = Mono.fromCallable(() -> inUse.addAndGet(lock, units))
                .doOnNext(used -> most.accumulateAndGet(used, Math::max))
                .delayElement(Duration.ofMillis(1))
                .doOnNext(used -> inUse.addAndGet(lock, -units));
        LockClient view = wantsAll ? client : client.permits(units, CAPACITY);
        return view.withLock("burst " + lock, work);
    }

    @Test
    void manyFlowsAreServedByPostgres() {
        assertAllAreServed(Databases.postgres());
    }

    @Test
    void manyFlowsAreServedByMariaDb() {
        assertAllAreServed(Databases.mariaDb("mariadb"));
    }

    @Test
    void manyFlowsAreServedByH2() {
        assertAllAreServed(Databases.h2());
    }
}
