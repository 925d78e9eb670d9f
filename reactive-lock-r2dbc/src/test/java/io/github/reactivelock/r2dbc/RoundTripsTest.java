package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.testservers.PostgresServer;
import io.github.reactivelock.testservers.TcpProxy;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * How often a client and its database wait for each other, counted on the wire; prints the tables of
 * docs/performance.md.
 */
class RoundTripsTest {

    private static final int TIMES = 5;
    private static final Map<String, Long> EXPECTED = Map.of(
            "acquire, free", 1L,
            "release, none waits", 1L,
            "try, held by another client", 1L,
            "join the queue", 2L,
            "ask again in the queue", 1L,
            "leave the queue", 1L,
            "release to a waiter of another client", 2L,
            "join the queue where there was one", 1L,
            "release to another client again", 1L,
            "renew 100 holds", 1L);

    /** MySQL by a driver that sends no text of several statements. */
    private static final Map<String, Long> ONE_BY_ONE = Map.of(
            "acquire, free", 2L,
            "release, none waits", 1L,
            "try, held by another client", 2L,
            "join the queue", 10L,
            "ask again in the queue", 6L,
            "leave the queue", 1L,
            "release to a waiter of another client", 10L,
            "join the queue where there was one", 10L,
            "release to another client again", 10L,
            "renew 100 holds", 5L);

    private static Claim claim(String key, Claim.Mode mode) {
        return new Claim(key, UUID.randomUUID().toString(), "me", Duration.ofSeconds(60), mode);
    }

    private static Claim claim(String key) {
        return claim(key, Claim.Mode.QUEUE);
    }

    private static <T> T get(Mono<T> answer) {
        return answer.block(Databases.LIMIT);
    }

    private static R2dbcLockBackend backend(String url) {
        return R2dbcLockBackend.connect(url, Databases.PATIENT);
    }

    private static Map<String, Long> counted(int port, String url) {
        try (TcpProxy proxy = TcpProxy.to(port)) {
            String way = url.replace(":" + port + "/", ":" + proxy.port() + "/");
            R2dbcLockBackend counted = backend(way);
            R2dbcLockBackend other = backend(url);
            get(other.createTables());
            Set<String> told = ConcurrentHashMap.newKeySet();
            var listening = counted.signals()
                    .ofType(Signal.Grant.class)
                    .subscribe(grant -> told.add(grant.claimId()), error -> {});
            Pair pair = new Pair(counted, other, proxy, told);
            Map<String, Long> trips = new LinkedHashMap<>();
            for (int i = 0; i < TIMES; i++) {
                pair.once(trips, "key " + i);
            }
            listening.dispose();
            get(counted.close().then(other.close()));
            return trips;
        }
    }

    /** The client that is counted, behind the proxy, and another one. */
    private record Pair(R2dbcLockBackend counted, R2dbcLockBackend other, TcpProxy proxy, Set<String> told) {

        /** Of several times the least, because the connection for notifications is checked now and then. */
        private void count(Map<String, Long> trips, String what, Supplier<Mono<?>> command) {
            Mono<?> asked = command.get();
            long before = proxy.roundTrips();
            Object unused = get(asked);
            trips.merge(what, proxy.roundTrips() - before, Math::min);
        }

        private void once(Map<String, Long> trips, String key) {
            Claim first = claim(key);
            count(trips, "acquire, free", () -> counted.claim(first));
            count(trips, "release, none waits", () -> counted.release(first));

            Claim held = claim(key);
            assertThat(get(other.claim(held))).isInstanceOf(ClaimResult.Granted.class);
            count(trips, "try, held by another client", () -> counted.claim(claim(key, Claim.Mode.TRY)));
            Claim waiter = claim(key);
            count(trips, "join the queue", () -> counted.claim(waiter));
            for (int i = 0; i < 2 * TIMES; i++) { // it looks for its grant meanwhile, less and less often
                count(trips, "ask again in the queue", () -> counted.claim(waiter));
            }
            count(trips, "leave the queue", () -> counted.release(waiter));
            assertThat(get(other.release(held))).isTrue();

            Claim given = claim(key);
            Claim next = claim(key);
            assertThat(get(counted.claim(given))).isInstanceOf(ClaimResult.Granted.class);
            assertThat(get(other.claim(next))).isInstanceOf(ClaimResult.Queued.class);
            count(trips, "release to a waiter of another client", () -> counted.release(given));
            Claim again = claim(key);
            count(trips, "join the queue where there was one", () -> counted.claim(again));
            assertThat(get(other.release(next))).isTrue();
            Claim last = claim(key);
            assertThat(get(other.claim(last))).isInstanceOf(ClaimResult.Queued.class);
            Databases.until("it is told of its grant", () -> told.contains(again.id()));
            count(trips, "release to another client again", () -> counted.release(again));
            assertThat(get(other.release(last))).isTrue();

            List<Claim> many = IntStream.range(0, 100)
                    .mapToObj(i -> claim(key + " of many " + i))
                    .toList();
            get(Flux.fromIterable(many).concatMap(counted::claim).then());
            count(trips, "renew 100 holds", () -> counted.renew(many));
        }
    }

    private static Map<String, Long> postgres() {
        try (PostgresServer server = PostgresServer.start()) {
            return counted(server.port(), server.url());
        }
    }

    private static Map<String, Long> mariaDb() {
        try (Databases server = Databases.mariaDb("mariadb")) {
            return counted(server.port(), server.url());
        }
    }

    /** By both drivers, and by that of MariaDB as it is set up if nothing is said. */
    private static void mySql() {
        try (Databases server = Databases.mariaDb("mariadb")) {
            Map<String, Long> trips = printed(
                    "MySQL, r2dbc-mysql",
                    counted(server.port(), server.byMySqlDriver().url()));
            assertThat(trips).containsExactlyInAnyOrderEntriesOf(renewingIn(4));
            Map<String, Long> several = printed(
                    "MySQL, r2dbc-mariadb?allowMultiQueries=true",
                    counted(server.port(), server.url() + "?allowMultiQueries=true"));
            assertThat(several).containsExactlyInAnyOrderEntriesOf(renewingIn(5));
            assertThat(printed("MySQL, r2dbc-mariadb", counted(server.port(), server.url())))
                    .containsExactlyInAnyOrderEntriesOf(ONE_BY_ONE);
        }
    }

    private static Map<String, Long> renewingIn(long trips) {
        Map<String, Long> expected = new LinkedHashMap<>(EXPECTED);
        expected.put("renew 100 holds", trips);
        return expected;
    }

    /** For docs/performance.md. */
    private static Map<String, Long> printed(String database, Map<String, Long> trips) {
        System.out.println("| round trips | " + database + " |\n|---|---|");
        trips.forEach((what, count) -> System.out.println("| " + what + " | " + count + " |"));
        return trips;
    }

    /**
     * What is one of a client alone is two where others wait: the plain statement for a lock that is free comes first.
     */
    @Test
    void everyCommandIsOneRoundTripOnPostgres() {
        assertThat(printed("PostgreSQL", postgres())).containsExactlyInAnyOrderEntriesOf(EXPECTED);
    }

    /** MySQL, which takes no compound statements, gets a text of several. */
    @Test
    void everyCommandIsOneRoundTripOnMariaDb() {
        if (Databases.IS_MYSQL) {
            mySql();
            return;
        }
        assertThat(printed("MariaDB", mariaDb())).containsExactlyInAnyOrderEntriesOf(EXPECTED);
    }
}
