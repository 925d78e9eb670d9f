package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.FencingTokens;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LossReason;
import io.github.reactivelock.state.Share;
import io.github.reactivelock.testservers.Pause;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactories;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryMetadata;
import io.r2dbc.spi.ConnectionFactoryOptions;
import io.r2dbc.spi.R2dbcException;
import io.r2dbc.spi.Wrapped;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.reactivestreams.Publisher;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** A waiting claim of MariaDB or MySQL is woken by who serves it, and looks for itself where it cannot be. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class BellTest {

    private static final Duration LEASE = Duration.ofMinutes(10);
    /** In SLEEP or in GET_LOCK. */
    private static final String ASLEEP = "state IN ('User sleep', 'User lock')";

    private static final String NOTES =
            "SELECT count(*) FROM reactive_lock_event WHERE lock_key LIKE 'reactive_lock.%'";

    /** Of each two are looked for within five to ten seconds where no ring is heard. */
    private static final int CHANGES = 20;

    private static final int RINGERS = 4;
    private static final int RINGS_OF_EACH = 500;

    private Databases database;

    @BeforeAll
    void start() {
        database = Databases.mariaDb("mariadb", "--max-connections=200");
        database.createTables();
        for (String user : List.of("ann", "bob")) {
            database.execute("CREATE USER " + user + "@'%' IDENTIFIED BY '" + user + "'");
            database.execute("GRANT ALL ON mysql.* TO " + user + "@'%'");
        }
    }

    @AfterAll
    void stop() {
        database.close();
    }

    private List<Databases> drivers() {
        return List.of(new Databases(database.url() + "?allowMultiQueries=true", () -> {}), database.byMySqlDriver());
    }

    /**
     * Where that of MariaDB cannot be told to send several statements as one text, or has no password's key, MySQL's.
     */
    private List<Databases> driversOfAnyFactory() {
        return Databases.IS_MYSQL ? List.of(database.byMySqlDriver()) : drivers();
    }

    private static R2dbcLockBackend connected(Databases driver) {
        return R2dbcLockBackend.connect(driver.url(), Databases.PATIENT);
    }

    private static R2dbcLockBackend connected(Databases driver, String user) {
        return R2dbcLockBackend.connect(
                driver.url().replace("//root@", "//" + user + ":" + user + "@"), Databases.PATIENT);
    }

    private static Claim claim(String key, Share share) {
        return new Claim(
                key, UUID.randomUUID().toString(), "me", LEASE, Claim.Mode.QUEUE, Claim.Keeping.RENEWED, share);
    }

    /** A client whose claim waits, and what it is told. */
    private static final class Waiter implements AutoCloseable {

        private final R2dbcLockBackend backend;
        private final Queue<Signal> signals = new ConcurrentLinkedQueue<>();
        private final Disposable listening;

        Waiter(R2dbcLockBackend backend) {
            this.backend = backend;
            this.listening = backend.signals().subscribe(signals::add, error -> {});
        }

        Claim waits(Claim claim) {
            assertThat(backend.claim(claim).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Queued.class);
            return claim;
        }

        void hears() {
            Databases.until("rings are heard", backend::isPushed);
        }

        void untilTold(Claim claim) {
            Databases.until(
                    "it is told of its grant",
                    () -> signals.stream()
                            .anyMatch(signal -> signal instanceof Signal.Grant grant
                                    && grant.claimId().equals(claim.id())
                                    && FencingTokens.number(grant.fencingToken()) > 0));
        }

        void released(Claim claim) {
            assertThat(backend.release(claim).block(Databases.LIMIT)).isTrue();
        }

        @Override
        public void close() {
            listening.dispose();
            backend.close().block(Databases.LIMIT);
        }
    }

    private static Claim held(R2dbcLockBackend backend, Claim claim) {
        assertThat(backend.claim(claim).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Granted.class);
        return claim;
    }

    /** Ends the connection of who sleeps; zero if none does. */
    private long endedOne() {
        long listener = database.select(
                "SELECT max(id) FROM information_schema.processlist WHERE " + ASLEEP + " HAVING max(id) > 0");
        return listener == 0 ? 0 : Math.max(0, database.execute("KILL " + listener));
    }

    /** The look for grants, which the listener's statement is not. */
    private static long looks(Tapped tapped) {
        return tapped.statements().stream()
                .filter(text -> text.contains("SELECT lock_key, claim_id, token FROM"))
                .count();
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("driversOfAnyFactory")
    void aClaimThatWaitsIsWokenAndLooksForNothing(Databases driver) {
        Tapped tapped = Tapped.of(R2dbcLockBackend.opening(ConnectionFactoryOptions.parse(driver.url())));
        R2dbcLockBackend holding = connected(driver);
        try (Waiter waiter = new Waiter(R2dbcLockBackend.connect(tapped, Databases.PATIENT))) {
            // Where a busy machine delays a ring for too long the claim does look, so that another one is waited for.
            Pause.until(
                    "a ring alone tells a claim", Duration.ofMinutes(3), () -> isWokenAlone(holding, waiter, tapped));
        }
        holding.close().block(Databases.LIMIT);
    }

    private static boolean isWokenAlone(R2dbcLockBackend holding, Waiter waiter, Tapped tapped) {
        Claim held = held(holding, claim("woken", Share.WHOLE));
        Claim waiting = waiter.waits(claim("woken", Share.WHOLE));
        waiter.hears();
        Databases.until("it looks no more", () -> {
            long before = looks(tapped);
            assertThat(Flux.range(0, 3)
                            .delayElements(Duration.ofMillis(500))
                            .count()
                            .block(Databases.LIMIT))
                    .isEqualTo(3);
            return looks(tapped) == before;
        });
        long before = looks(tapped);

        assertThat(holding.release(held).block(Databases.LIMIT)).isTrue();

        waiter.untilTold(waiting);
        boolean isAlone = looks(tapped) == before;
        waiter.released(waiting);
        return isAlone;
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("drivers")
    void readersThatWaitAreWokenTogether(Databases driver) {
        R2dbcLockBackend holding = connected(driver);
        try (Waiter waiter = new Waiter(connected(driver))) {
            Claim held = held(holding, claim("read", Share.WHOLE));
            Claim one = waiter.waits(claim("read", Share.permits(1, 2)));
            Claim other = waiter.waits(claim("read", Share.permits(1, 2)));
            waiter.hears();
            Databases.until(
                    "nothing is said of rings that are heard",
                    () -> waiter.backend.whyNotPushed().isEmpty());

            assertThat(holding.release(held).block(Databases.LIMIT)).isTrue();

            waiter.untilTold(one);
            waiter.untilTold(other);
            waiter.released(one);
            waiter.released(other);
        }
        holding.close().block(Databases.LIMIT);
    }

    /** A watcher's own looks, without which an event would be seen after five seconds at the soonest. */
    private static long reads(Tapped tapped) {
        return tapped.statements().stream()
                .filter(text -> text.contains("SELECT number, owner, token, units FROM"))
                .count();
    }

    private static void untilQuiet(Tapped tapped) {
        Databases.until("it looks no more", () -> {
            long before = reads(tapped);
            Object unused = Mono.delay(Duration.ofSeconds(2)).block(Databases.LIMIT);
            return reads(tapped) == before;
        });
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("driversOfAnyFactory")
    void whoeverWatchesIsWokenByEachGrantAndEachEnd(Databases driver) {
        Tapped tapped = Tapped.of(R2dbcLockBackend.opening(ConnectionFactoryOptions.parse(driver.url())));
        R2dbcLockBackend holding = connected(driver);
        R2dbcLockBackend watching = R2dbcLockBackend.connect(tapped, Databases.PATIENT);
        Queue<LockEvent> seen = new ConcurrentLinkedQueue<>();
        Disposable watch = watching.events("watched").subscribe(seen::add, error -> {});
        Databases.until("rings are heard though no claim waits", watching::isPushed);
        untilQuiet(tapped);

        for (int i = 1; i <= CHANGES; i++) {
            change(holding, i % 2 == 0);
            int told = 1 + 2 * i;
            Databases.until("both are told", () -> seen.size() >= told);
        }

        assertThat(seen).hasSize(1 + 2 * CHANGES);
        watch.dispose();
        watching.close().then(holding.close()).block(Databases.LIMIT);
    }

    /** A grant and its end, by its owner or by force. */
    private static void change(R2dbcLockBackend holding, boolean isForced) {
        Claim claim = claim("watched", Share.WHOLE);
        Mono<Boolean> ended = holding.claim(claim)
                .cast(ClaimResult.Granted.class)
                .flatMap(granted ->
                        isForced ? holding.forceRelease("watched", granted.fencingToken()) : holding.release(claim));
        assertThat(ended.block(Databases.LIMIT)).isTrue();
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("driversOfAnyFactory")
    void whoeverAwaitsAReleaseIsWokenByIt(Databases driver) {
        Tapped tapped = Tapped.of(R2dbcLockBackend.opening(ConnectionFactoryOptions.parse(driver.url())));
        R2dbcLockBackend holding = connected(driver);
        R2dbcLockBackend watching = R2dbcLockBackend.connect(tapped, Databases.PATIENT);
        LockClient awaiting =
                LockClient.builder(watching).commandTimeout(Databases.LIMIT).build();

        Claim held = held(holding, claim("awaited", Share.WHOLE));
        Mono<Boolean> released =
                awaiting.awaitRelease("awaited").thenReturn(true).cache();
        Disposable waiting = released.subscribe();
        Databases.until("rings are heard", watching::isPushed);
        untilQuiet(tapped);

        assertThat(holding.release(held).block(Databases.LIMIT)).isTrue();

        assertThat(released.block(Databases.LIMIT)).isTrue();
        waiting.dispose();
        awaiting.close().then(holding.close()).block(Databases.LIMIT);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("drivers")
    void anOwnerThatListensIsToldOfAReleaseByForce(Databases driver) {
        R2dbcLockBackend other = connected(driver);
        try (Waiter owner = new Waiter(connected(driver))) {
            Claim before = held(other, claim("listened for", Share.WHOLE));
            Claim waiting = owner.waits(claim("listened for", Share.WHOLE));
            owner.hears();
            for (Share share : List.of(Share.WHOLE, Share.permits(1, 2))) {
                Claim lost = claim("forced", share);
                long token = ((ClaimResult.Granted) owner.backend.claim(lost).block(Databases.LIMIT)).fencingToken();

                assertThat(other.forceRelease("forced", token).block(Databases.LIMIT))
                        .isTrue();

                Databases.until(
                        "it is told", () -> owner.signals.contains(new Signal.Suspect(lost.id(), LossReason.FORCED)));
            }
            Databases.until("it is told once", () -> database.select(NOTES) == 0);
            assertThat(other.release(before).block(Databases.LIMIT)).isTrue();
            owner.untilTold(waiting);
            owner.released(waiting);
        }
        other.close().block(Databases.LIMIT);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("driversOfAnyFactory")
    void anOwnerThatCanBeCalledBackListensAndIsRungFor(Databases driver) {
        Tapped tapped = Tapped.of(R2dbcLockBackend.opening(ConnectionFactoryOptions.parse(driver.url())));
        R2dbcLockBackend other = R2dbcLockBackend.connect(tapped, Databases.PATIENT);
        try (Waiter owner = new Waiter(connected(driver))) {
            Claim plain = claim("kept", Share.WHOLE);
            Claim kept = held(
                    owner.backend,
                    new Claim(
                            "kept",
                            plain.id(),
                            "me",
                            LEASE,
                            Claim.Mode.QUEUE,
                            Claim.Keeping.RENEWED,
                            Share.WHOLE,
                            true));
            owner.hears();
            assertThat(owner.backend.hearsRecalls()).isTrue();

            other.recall("kept").block(Databases.LIMIT);

            Databases.until("it is told", () -> owner.signals.contains(new Signal.Recall(kept.id())));
            Databases.until(
                    "it was rung for, by one who does not listen",
                    () -> tapped.statements().stream().anyMatch(text -> text.contains("KILL QUERY")));
            Databases.until("the note of it is gone", () -> database.select(NOTES) == 0);
            owner.released(kept);
        }
        other.close().block(Databases.LIMIT);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("driversOfAnyFactory")
    void anOwnerThatCannotBeCalledBackDoesNotListen(Databases driver) {
        Tapped tapped = Tapped.of(R2dbcLockBackend.opening(ConnectionFactoryOptions.parse(driver.url())));
        try (Waiter owner = new Waiter(R2dbcLockBackend.connect(tapped, Databases.PATIENT))) {
            R2dbcLockBackend other = connected(driver);
            Claim held = held(owner.backend, claim("not kept", Share.WHOLE));

            other.recall("not kept").block(Databases.LIMIT);

            owner.released(held);
            assertThat(tapped.statements()).noneMatch(text -> text.contains("GET_LOCK"));
            assertThat(owner.signals).containsExactly(new Signal.Reconnected());
            other.close().block(Databases.LIMIT);
        }
    }

    /** Names of the listeners whose claims wait for a key. */
    private List<String> listenersOf(String key) {
        return Mono.usingWhen(
                        database.factory().create(),
                        connection -> Flux.from(connection
                                        .createStatement("SELECT client FROM reactive_lock_waiter WHERE lock_key = '"
                                                + key + "'")
                                        .execute())
                                .concatMap(result -> result.map((row, metadata) -> Bell.name(row.get(0, String.class))))
                                .collectList(),
                        Connection::close)
                .block(Databases.LIMIT);
    }

    /** Rings one after the other; for how many of them the server needed the two seconds after which it gives up. */
    private Mono<Long> ringsThatWereStuck(List<String> listeners, int ringer) {
        return Mono.usingWhen(
                database.factory().create(),
                connection -> Flux.range(ringer, RINGS_OF_EACH)
                        .concatMap(turn -> microsOfARing(connection, listeners.get(turn * 7 % listeners.size())))
                        .filter(micros -> micros > 1_900_000)
                        .count(),
                Connection::close);
    }

    /** By the server's clock; not asked of MySQL, which has no compound statements. */
    private static Mono<Long> microsOfARing(Connection connection, String listener) {
        String kill = "KILL QUERY IS_USED_LOCK('" + listener + "')";
        return Databases.IS_MYSQL
                ? Databases.number(connection, kill).onErrorResume(R2dbcFailure::isUnheard, unheard -> Mono.just(0L))
                : Databases.number(
                        connection,
                        "BEGIN NOT ATOMIC DECLARE began DATETIME(6) DEFAULT SYSDATE(6);"
                                + " DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END; " + kill
                                + "; SELECT timestampdiff(MICROSECOND, began, SYSDATE(6)); END");
    }

    /**
     * Who falls asleep in MariaDB's SLEEP has a mutex of all who sleep and asks for one that its killer has, which
     * waits for the first, two seconds long. Every other ring stands behind these two, and every new connection.
     */
    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("driversOfAnyFactory")
    void listenersThatAreRungAllTheTimeKeepNothingStuck(Databases driver) {
        R2dbcLockBackend holding = connected(driver);
        String key = UUID.randomUUID().toString();
        List<Waiter> waiters =
                Stream.generate(() -> new Waiter(connected(driver))).limit(8).toList();
        try {
            Claim held = held(holding, claim(key, Share.WHOLE));
            List<Claim> claims = waiters.stream()
                    .map(waiter -> waiter.waits(claim(key, Share.WHOLE)))
                    .toList();
            waiters.forEach(Waiter::hears);
            List<String> listeners = listenersOf(key);
            assertThat(listeners).hasSize(waiters.size());

            Pause.until(
                    "none is stuck, but for one of each where a machine stands still",
                    Duration.ofMinutes(3),
                    () -> Flux.range(0, RINGERS)
                                    .flatMap(ringer -> ringsThatWereStuck(listeners, ringer))
                                    .reduce(0L, Long::sum)
                                    .block(Duration.ofMinutes(3))
                            <= RINGERS);
            assertThat(holding.release(held).block(Databases.LIMIT)).isTrue();
            for (int i = 0; i < claims.size(); i++) {
                waiters.get(i).untilTold(claims.get(i));
                waiters.get(i).released(claims.get(i));
            }
        } finally {
            waiters.forEach(Waiter::close);
        }
        holding.close().block(Databases.LIMIT);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("driversOfAnyFactory")
    void whoeverMayNotRingHandsOverAllTheSame(Databases driver) {
        R2dbcLockBackend holding = connected(driver, "ann");
        try (Waiter waiter = new Waiter(connected(driver, "bob"))) {
            boolean wasHeard = false;
            Optional<String> why;
            do {
                Claim held = held(holding, claim("others'", Share.WHOLE));
                Claim waiting = waiter.waits(claim("others'", Share.WHOLE));
                if (!wasHeard) {
                    waiter.hears();
                    wasHeard = true;
                }

                assertThat(holding.release(held).block(Databases.LIMIT)).isTrue();

                waiter.untilTold(waiting);
                waiter.released(waiting);
                // A ring that was due at the end of a sleep is not known to be lost, and another connection is tried
                // once.
                why = waiter.backend.whyNotPushed();
            } while (why.isEmpty());
            assertThat(why.orElseThrow())
                    .containsAnyOf("did not ring, or were not allowed to", "slept through its own rings");
        }
        holding.close().block(Databases.LIMIT);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("drivers")
    void aListenerThatIsEndedIsMissedByNoneAndComesBack(Databases driver) {
        R2dbcLockBackend holding = connected(driver);
        try (Waiter waiter = new Waiter(connected(driver))) {
            Claim held = held(holding, claim("ended", Share.WHOLE));
            Claim waiting = waiter.waits(claim("ended", Share.WHOLE));
            waiter.hears();

            Databases.until("its listener is ended", () -> !waiter.backend.isPushed() || endedOne() < 0);
            assertThat(holding.release(held).block(Databases.LIMIT)).isTrue();

            waiter.untilTold(waiting);
            waiter.released(waiting);
            held = held(holding, claim("ended", Share.WHOLE));
            waiting = waiter.waits(claim("ended", Share.WHOLE));
            waiter.hears();
            assertThat(holding.release(held).block(Databases.LIMIT)).isTrue();
            waiter.untilTold(waiting);
            waiter.released(waiting);
        }
        holding.close().block(Databases.LIMIT);
    }

    /** MySQL has no need of it. */
    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("driversOfAnyFactory")
    void theAnchorIsKeptByAnotherConnectionWhenItsOwnEnds(Databases driver) {
        String anchor = "SELECT coalesce(IS_USED_LOCK('reactive_lock'), 0)";
        R2dbcLockBackend holding = connected(driver);
        try (Waiter first = new Waiter(connected(driver));
                Waiter second = new Waiter(connected(driver))) {
            Claim held = held(holding, claim("anchored", Share.WHOLE));
            Claim one = first.waits(claim("anchored", Share.WHOLE));
            first.hears();
            Claim other = second.waits(claim("anchored", Share.WHOLE));
            second.hears();
            Databases.until("one keeps it", () -> database.select(anchor) > 0 != Databases.IS_MYSQL);

            long before = database.select(anchor);
            if (before > 0) {
                database.execute("KILL " + before);
                Databases.until("another keeps it", () -> {
                    long now = database.select(anchor);
                    return now > 0 && now != before;
                });
                first.hears();
                second.hears();
            }

            assertThat(holding.release(held).block(Databases.LIMIT)).isTrue();
            first.untilTold(one);
            first.released(one);
            second.untilTold(other);
            second.released(other);
        }
        Databases.until("it is left", () -> database.select(anchor) == 0);
        holding.close().block(Databases.LIMIT);
    }

    /** A second is too short where the machine stands still while a statement has the table. */
    private static boolean areAltered(ConnectionFactory impatient) {
        try {
            for (int i = 0; i < 6; i++) {
                Databases.select(impatient, "ALTER TABLE reactive_lock COMMENT = 'comment " + i + "'");
            }
            return true;
        } catch (R2dbcException waited) {
            return false;
        }
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("drivers")
    void aListenerKeepsNoTableAndIsNotSlow(Databases driver) {
        database.execute("SET GLOBAL long_query_time = 1");
        R2dbcLockBackend holding = connected(driver);
        try (Waiter waiter = new Waiter(connected(driver))) {
            Claim held = held(holding, claim("altered", Share.WHOLE));
            Claim waiting = waiter.waits(claim("altered", Share.WHOLE));
            waiter.hears();
            String slow = Databases.counted("SLOW_QUERIES");
            String asleep = "SELECT count(*) FROM information_schema.processlist WHERE " + ASLEEP;
            Databases.until("it sleeps", () -> database.select(asleep) > 0);

            ConnectionFactory impatient = Databases.beginningWith("SET lock_wait_timeout = 1", database.factory());
            Databases.until("six in a row need not wait for a sleep to end", () -> areAltered(impatient));

            Databases.until("no sleep counts as slow, and on a busy machine nothing else does", () -> {
                long before = database.select(slow);
                Object unused = Mono.delay(Duration.ofSeconds(5)).block(Databases.LIMIT);
                return database.select(slow) == before;
            });
            assertThat(holding.release(held).block(Databases.LIMIT)).isTrue();
            waiter.untilTold(waiting);
            waiter.released(waiting);
        } finally {
            database.execute("SET GLOBAL long_query_time = 10");
        }
        holding.close().block(Databases.LIMIT);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("driversOfAnyFactory")
    void aListenerTakesNoConnectionOfAnApplicationsPool(Databases driver) {
        R2dbcLockBackend holding = connected(driver);
        ConnectionPool pool = Databases.pool(ConnectionFactories.get(driver.url()), 1);
        try (Waiter waiter = new Waiter(R2dbcLockBackend.using(pool, Databases.PATIENT))) {
            Claim held = held(holding, claim("small pool", Share.WHOLE));
            Claim waiting = waiter.waits(claim("small pool", Share.WHOLE));
            waiter.hears();

            assertThat(Databases.select(pool, "SELECT 1")).isEqualTo(1);
            assertThat(holding.release(held).block(Databases.LIMIT)).isTrue();

            waiter.untilTold(waiting);
            waiter.released(waiting);
        }
        Databases.dispose(pool);
        holding.close().block(Databases.LIMIT);
    }

    /**
     * As by a proxy that lends a connection for one statement, the name is taken by another one. The driver shows, or
     * MySQL gets no text of several statements and there are no rings.
     */
    private static ConnectionFactory lending(ConnectionFactory real) {
        return new ConnectionFactory() {
            @Override
            public Publisher<? extends Connection> create() {
                return Mono.zip(
                        Mono.from(real.create()),
                        Mono.from(real.create()),
                        (one, other) -> (Connection) Proxy.newProxyInstance(
                                Connection.class.getClassLoader(),
                                new Class<?>[] {Connection.class, Wrapped.class},
                                (proxy, method, arguments) -> switch (method.getName()) {
                                    case "unwrap" ->
                                        arguments == null || ((Class<?>) arguments[0]).isInstance(one) ? one : null;
                                    case "close" -> Mono.from(one.close()).then(Mono.from(other.close()));
                                    default -> method.invoke(takesAName(arguments) ? other : one, arguments);
                                }));
            }

            @Override
            public ConnectionFactoryMetadata getMetadata() {
                return real.getMetadata();
            }
        };
    }

    private static boolean takesAName(Object @Nullable [] arguments) {
        return arguments != null
                && arguments.length == 1
                && arguments[0] instanceof String text
                && text.startsWith("SELECT GET_LOCK");
    }

    private void assertHandedOnUnheard(Databases driver, R2dbcLockBackend unheard, String why) {
        R2dbcLockBackend holding = connected(driver);
        try (Waiter waiter = new Waiter(unheard)) {
            Claim held = held(holding, claim(why, Share.WHOLE));
            Claim waiting = waiter.waits(claim(why, Share.WHOLE));
            Databases.until(
                    "it says why it looks",
                    () -> waiter.backend.whyNotPushed().orElse("").contains(why));

            assertThat(holding.release(held).block(Databases.LIMIT)).isTrue();

            waiter.untilTold(waiting);
            assertThat(unheard.isPushed()).isFalse();
            waiter.released(waiting);
        }
        holding.close().block(Databases.LIMIT);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("driversOfAnyFactory")
    void behindAProxyThatSharesConnectionsAWaiterLooks(Databases driver) {
        ConnectionFactory lending = lending(ConnectionFactories.get(driver.url()));

        assertHandedOnUnheard(
                driver,
                R2dbcLockBackend.connect(lending, Databases.PATIENT),
                "something on the way to the server shares the connection");
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("driversOfAnyFactory")
    void withAPoolThatIsHiddenAWaiterLooks(Databases driver) {
        ConnectionPool pool = Databases.pool(ConnectionFactories.get(driver.url()), 4);

        assertHandedOnUnheard(
                driver,
                R2dbcLockBackend.using(Databases.beginningWith("DO 0", pool), Databases.PATIENT),
                "a ConnectionFactory that does not show it");

        pool.disposeLater().block(Databases.LIMIT);
    }

    @Test
    @EnabledIfSystemProperty(named = "reactivelock.mysql.instead", matches = "true")
    void aDriverThatSendsMySqlSingleStatementsOnlyIsToldTheOptionOnce() {
        ListAppender<ILoggingEvent> said = new ListAppender<>();
        Logger logger = (Logger) LoggerFactory.getLogger(Bell.class);
        logger.addAppender(said);
        said.start();

        assertHandedOnUnheard(database, connected(database), "allowMultiQueries=true");

        logger.detachAppender(said);
        assertThat(said.list)
                .filteredOn(event -> event.getFormattedMessage().contains("allowMultiQueries=true"))
                .hasSize(1);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("drivers")
    void aLimitOfTheServerOnStatementsDoesNotEndTheSleep(Databases driver) {
        String limit = Databases.IS_MYSQL ? "max_execution_time = 500" : "max_statement_time = 0.5";
        String none = limit.replaceAll("= .*", "= 0");
        R2dbcLockBackend holding = connected(driver);
        Claim held = held(holding, claim("limited", Share.WHOLE));
        database.execute("SET GLOBAL " + limit);
        try (Waiter waiter = new Waiter(connected(driver))) {
            Claim waiting = claim("limited", Share.WHOLE);
            assertThat(waiter.backend
                            .claim(waiting)
                            .retryWhen(Retry.max(20)) // a busy machine may be later than the limit
                            .block(Databases.LIMIT))
                    .isInstanceOf(ClaimResult.Queued.class);
            waiter.hears();
            ConnectionFactory unlimited = Databases.beginningWith("SET " + none, database.factory());
            String asleep = "SELECT count(*) FROM information_schema.processlist WHERE " + ASLEEP + " AND time > 0";
            Databases.until("it sleeps for longer than that", () -> Databases.select(unlimited, asleep) > 0);
            Databases.select(unlimited, "SET GLOBAL " + none);

            assertThat(holding.release(held).block(Databases.LIMIT)).isTrue();

            waiter.untilTold(waiting);
            assertThat(waiter.backend.release(waiting).retryWhen(Retry.max(20)).block(Databases.LIMIT))
                    .isTrue();
        } finally {
            database.execute("SET GLOBAL " + none);
        }
        holding.close().block(Databases.LIMIT);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("drivers")
    void whoDoesNotListenIsHandedOverTo(Databases driver) {
        R2dbcLockBackend holding = connected(driver);
        R2dbcLockBackend looking = R2dbcLockBackend.connect(driver.url(), Databases.PATIENT.withoutNotifications());
        try (Waiter waiter = new Waiter(looking)) {
            Claim held = held(holding, claim("looks", Share.WHOLE));
            Claim waiting = waiter.waits(claim("looks", Share.WHOLE));

            assertThat(holding.release(held).block(Databases.LIMIT)).isTrue();

            waiter.untilTold(waiting);
            assertThat(looking.isPushed()).isFalse();
            waiter.released(waiting);
        }
        holding.close().block(Databases.LIMIT);
    }
}
