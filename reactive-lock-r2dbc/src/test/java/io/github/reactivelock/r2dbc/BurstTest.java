package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockOptions;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A thousand flows of four clients that have just started want one lock, everything at its defaults: none fails. */
class BurstTest {

    private static final int CLIENTS = 4;
    private static final int FLOWS = 1_000;

    private static void assertAllAreServed(Databases database, Fairness fairness) {
        try (database) {
            database.createTables();
            List<LockClient> clients = Stream.generate(
                            () -> LockClient.builder(R2dbcLockBackend.connect(database.url()))
                                    .options(LockOptions.defaults().withFairness(fairness))
                                    .build())
                    .limit(CLIENTS)
                    .toList();
            AtomicInteger inside = new AtomicInteger();

            List<Integer> seen = Flux.range(0, FLOWS)
                    .flatMap(
                            flow -> clients.get(flow % CLIENTS)
                                    .withLock(
                                            "burst",
                                            held -> Mono.fromCallable(() -> {
                                                int together = inside.incrementAndGet();
                                                inside.decrementAndGet();
                                                return together;
                                            })),
                            FLOWS)
                    .collectList()
                    .block(Databases.LIMIT.multipliedBy(3));

            assertThat(seen).hasSize(FLOWS).containsOnly(1);
            Flux.fromIterable(clients).flatMap(LockClient::close).then().block(Databases.LIMIT);
        }
    }

    @ParameterizedTest
    @EnumSource(Fairness.class)
    void aThousandFlowsOfFourClientsAreServedByPostgres(Fairness fairness) {
        assertAllAreServed(Databases.postgres(), fairness);
    }

    @ParameterizedTest
    @EnumSource(Fairness.class)
    void aThousandFlowsOfFourClientsAreServedByMariaDb(Fairness fairness) {
        assertAllAreServed(Databases.mariaDb("mariadb"), fairness);
    }
}
