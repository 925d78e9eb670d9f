package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.support.LateId;
import io.github.reactivelock.state.Share;
import io.r2dbc.spi.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What shares cost, and are granted, when a transaction of another holds the row of their lock. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class StuckSharesTest {

    private static final Duration LEASE = Duration.ofSeconds(60);

    private StuckTest.Site postgres;
    private StuckTest.Site mariaDb;

    @BeforeAll
    void start() {
        postgres = new StuckTest.Site(
                Databases.postgres(),
                "convert_to('%s', 'UTF8')",
                Dialect.POSTGRESQL.now,
                "SELECT count(*) FROM pg_locks WHERE NOT granted");
        mariaDb = new StuckTest.Site(
                Databases.mariaDb("mariadb"), "'%s'", Dialect.MARIADB.now, Databases.MARIADB_WAITERS);
        sites().forEach(site -> site.database().createTables());
        assertThat(sites().mapToLong(StuckTest.Site::waiters).sum()).isZero(); // what is asked first takes long
    }

    @AfterAll
    void stop() {
        sites().forEach(site -> site.database().close());
    }

    Stream<StuckTest.Site> sites() {
        return Stream.of(postgres, mariaDb);
    }

    private static Claim claim(String key, Share share) {
        String id = UUID.randomUUID().toString();
        return new Claim(key, id, "me", LEASE, Claim.Mode.QUEUE, Claim.Keeping.RENEWED, share);
    }

    @CanIgnoreReturnValue
    private static <T> T get(Mono<T> answer) {
        return answer.block(Databases.LIMIT);
    }

    private static void end(Connection outsider) {
        Mono.from(outsider.rollbackTransaction()).block(Databases.LIMIT);
        Mono.from(outsider.close()).block(Databases.LIMIT);
    }

    private static void granted(R2dbcLockBackend backend, Claim claim) {
        assertThat(get(backend.claim(claim))).isInstanceOf(ClaimResult.Granted.class);
    }

    @ParameterizedTest
    @MethodSource("sites")
    void theLeaseOfAShareBeginsWhenTheRowIsLocked(StuckTest.Site site) {
        R2dbcLockBackend backend = site.database().backend();
        Claim holder = claim("late", Share.WHOLE);
        Claim next = claim("late", Share.ONE);
        granted(backend, holder);
        assertThat(get(backend.claim(next))).isInstanceOf(ClaimResult.Queued.class);
        Connection outsider = site.holdingRowOf("late");
        CompletableFuture<Boolean> release = backend.release(holder).toFuture();
        Databases.until("the release waits for the row", () -> site.waiters() > 0);

        long then = site.now();
        end(outsider);

        assertThat(release.join()).isTrue();
        assertThat(site.database()
                        .select("SELECT lease_end FROM reactive_lock_share WHERE claim_id = '" + next.id() + "'"))
                .isGreaterThanOrEqualTo(then + Micros.of(LEASE));
        get(backend.close().thenReturn(true));
    }

    @ParameterizedTest
    @MethodSource("sites")
    void aRenewalWaitsForTheRowOfABusyLock(StuckTest.Site site) {
        R2dbcLockBackend backend = site.database().backend();
        Claim share = claim("busy", Share.permits(1, 2));
        granted(backend, share);
        Database patient = new Database(site.database().factory(), Databases.PATIENT);
        ShareRenewal renewal =
                new ShareRenewal(patient, new SignalSink(patient, new LateId(() -> "busy")), Databases.LIMIT);
        Connection outsider = site.holdingRowOf("busy");

        CompletableFuture<List<String>> renewed = renewal.renew(List.of(share))
                .flatMapIterable(RenewalResult::renewed)
                .collectList()
                .toFuture();
        Databases.until("it waits for the row", () -> site.waiters() > 0);
        end(outsider);

        assertThat(renewed).succeedsWithin(Databases.LIMIT).isEqualTo(List.of(share.id()));
        get(backend.close().thenReturn(true));
    }

    @ParameterizedTest
    @MethodSource("sites")
    void aStuckRowDelaysItsOwnShareOnlyAndLosesNone(StuckTest.Site site) {
        R2dbcLockBackend backend = site.database().backend();
        List<Claim> held = IntStream.range(0, 5)
                .mapToObj(i -> claim("share " + i, Share.permits(1, 2)))
                .toList();
        get(Flux.fromIterable(held).concatMap(backend::claim).then(Mono.just(true)));
        Connection stuck = site.holdingRowOf("share 3");

        RenewalResult answer = get(backend.renew(held));

        assertThat(answer.renewed()).hasSize(4).doesNotContain(held.get(3).id());
        assertThat(answer.lost()).isEmpty();
        end(stuck);
        // At the server the question that was given up may have the row for a moment now.
        Databases.until(
                "all are renewed", () -> get(backend.renew(held)).renewed().size() == 5);
        get(backend.close().thenReturn(true));
    }

    @ParameterizedTest
    @MethodSource("sites")
    void manyStuckRowsDelayTheOthersAnswersNoLongerThanOne(StuckTest.Site site) {
        R2dbcLockBackend backend = site.database().backend();
        List<Claim> held = IntStream.range(0, 18)
                .mapToObj(i -> claim("many " + i, i == 0 ? Share.WHOLE : Share.permits(1, 2)))
                .toList();
        get(Flux.fromIterable(held).concatMap(backend::claim).then(Mono.just(true)));
        List<Connection> stuck = IntStream.range(2, 18)
                .mapToObj(i -> site.holdingRowOf("many " + i))
                .toList();

        long begin = System.nanoTime();
        RenewalResult answer = get(backend.renew(held));

        // The server lets each of them wait for 24 seconds.
        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(20));
        assertThat(answer.renewed())
                .containsExactlyInAnyOrder(held.get(0).id(), held.get(1).id());
        assertThat(answer.lost()).isEmpty();
        stuck.forEach(StuckSharesTest::end);
        get(backend.close().thenReturn(true));
    }

    /** Or its lease would end before its question has left, and thousands of flows stand still. */
    @ParameterizedTest
    @MethodSource("sites")
    void whoWasToldOfItsGrantIsAskedAboutBeforeThoseThatWait(StuckTest.Site site) {
        R2dbcLockBackend other = site.database().backend();
        R2dbcLockBackend one = site.database().backend();
        Set<Signal> signals = ConcurrentHashMap.newKeySet();
        var listening = one.signals().subscribe(signals::add, error -> {});
        Claim holder = claim("line", Share.permits(2, 2));
        Claim told = claim("line", Share.permits(2, 2));
        granted(other, holder);
        assertThat(get(one.claim(told))).isInstanceOf(ClaimResult.Queued.class);
        assertThat(get(other.release(holder))).isTrue();
        Databases.until("it is told", () -> signals.stream().anyMatch(Signal.Grant.class::isInstance));
        Connection outsider = site.holdingRowOf("line");
        List<String> order = new CopyOnWriteArrayList<>();
        List<CompletableFuture<ClaimResult>> answers = new ArrayList<>();
        for (Claim next : List.of(claim("line", Share.ONE), claim("line", Share.ONE), told)) {
            answers.add(one.claim(next).doOnNext(answer -> order.add(next.id())).toFuture());
        }
        Databases.until("the first waits for the row", () -> site.waiters() > 0);

        end(outsider);

        answers.forEach(CompletableFuture::join);
        assertThat(order.get(1)).isEqualTo(told.id());
        listening.dispose();
        get(one.close().then(other.close()).thenReturn(true));
    }
}
