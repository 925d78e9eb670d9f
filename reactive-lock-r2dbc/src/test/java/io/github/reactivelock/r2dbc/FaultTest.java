package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.spi.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What an administrator and a busy application do to a lock in PostgreSQL. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class FaultTest {

    private static final String KILL_ALL =
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
                    + " AND backend_type = 'client backend'";

    private final List<LockClient> clients = new ArrayList<>();
    private Databases database;

    @BeforeAll
    void start() {
        database = Databases.postgres();
        database.createTables();
    }

    @AfterEach
    void closeClients() {
        clients.forEach(client -> client.close().block(Databases.LIMIT));
        clients.clear();
    }

    @AfterAll
    void stop() {
        database.close();
    }

    private LockClient client(R2dbcLockBackend backend) {
        LockClient client = Databases.client(backend);
        clients.add(client);
        return client;
    }

    @Test
    void sessionsThatAnAdministratorKillsCostNoLock() {
        LockClient holding = client(database.backend());
        LockHandle held = holding.acquire("killed").block(Databases.LIMIT);
        CompletableFuture<LockHandle> waiting =
                client(database.backend()).acquire("killed").toFuture();
        Databases.until("it waits", () -> database.select("SELECT count(*) FROM reactive_lock_waiter") == 1);

        assertThat(database.select(KILL_ALL)).isPositive();

        held.renew().retry(5).block(Databases.LIMIT);
        assertThat(held.isHeld()).isTrue();
        held.release().retry(5).block(Databases.LIMIT);
        waiting.orTimeout(60, java.util.concurrent.TimeUnit.SECONDS)
                .join()
                .release()
                .block(Databases.LIMIT);
    }

    @Test
    void aDatabaseThatIsNotThereIsAnErrorThatSaysSo() {
        Databases gone = Databases.postgres();
        gone.close();

        assertThatThrownBy(() -> client(R2dbcLockBackend.connect(gone.url()))
                        .acquire("x")
                        .block(Databases.LIMIT))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("is it up");
    }

    @Test
    void anExhaustedPoolIsAnErrorThatSaysSo() {
        ConnectionPool pool = database.pool(1);
        Connection taken = pool.create().block(Databases.LIMIT);
        LockClient client = client(R2dbcLockBackend.using(pool));

        assertThatThrownBy(() -> client.acquire("exhausted").block(Databases.LIMIT))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("pool");

        Flux.from(taken.close()).blockLast(Databases.LIMIT);
        client.acquire("exhausted").flatMap(LockHandle::release).retry(5).block(Databases.LIMIT);
        Databases.dispose(pool);
    }

    @Test
    void deadlocksAndConflictsAreTriedAgain() {
        R2dbcLockBackend backend = database.backend();
        LockClient client = client(backend);
        database.execute("ALTER DATABASE postgres SET default_transaction_isolation = 'serializable'");
        List<LockClient> serializable =
                List.of(client(database.backend()), client(database.backend()), client(database.backend()));
        try {
            Flux.range(0, 60)
                    .flatMap(i -> serializable.get(i % 3).withLock("conflict " + i % 4, Flux.just(i)), 20)
                    .then()
                    .block(Databases.LIMIT);
        } finally {
            database.execute("ALTER DATABASE postgres RESET default_transaction_isolation");
        }
        assertThat(client.inspect("conflict 0").block(Databases.LIMIT)).isNotNull();
    }

    @Test
    void rowsThatNobodyUsesAreCleanedAndTheTokenStillRises() {
        R2dbcLockBackend backend = database.backend();
        LockClient client = client(backend);
        LockHandle old = client.acquire("cleaned").block(Databases.LIMIT);
        LockHandle kept = client.acquire("kept").block(Databases.LIMIT);
        old.release().block(Databases.LIMIT);

        String rows = "SELECT count(*) FROM reactive_lock WHERE lock_key = convert_to('%s', 'UTF8')";
        // One call takes away a part of what other tests have left.
        Databases.until("it is cleaned away", () -> {
            backend.clean(Duration.ZERO).block(Databases.LIMIT);
            return database.select(String.format(rows, "cleaned")) == 0;
        });
        assertThat(database.select(String.format(rows, "kept"))).isEqualTo(1);
        assertThat(client.acquire("cleaned").block(Databases.LIMIT).fencingToken())
                .isGreaterThan(old.fencingToken());
        assertThat(kept.isHeld()).isTrue();
    }

    @Test
    void afterAnOperatorDeletesALocksRowItsWaitersAreServedFirst() {
        LockOptions minute = LockOptions.defaults().withLease(Duration.ofMinutes(1));
        LockHandle held =
                client(database.backend()).with(minute).acquire("deleted").block(Databases.LIMIT);
        // The lease is long, and both have asked before: neither asks again, or connects, just when the row is deleted.
        R2dbcLockBackend heard = database.backend();
        Queue<Signal> signals = new ConcurrentLinkedQueue<>();
        var listening = heard.signals().subscribe(signals::add, error -> {});
        LockClient queueing = client(heard).with(minute);
        LockClient taking = client(database.backend()).with(minute);
        Flux.just(queueing, taking)
                .concatMap(client -> client.withLock("asked before", Mono.empty()))
                .then()
                .block(Databases.LIMIT);
        Databases.until("pushes arrive", () -> !signals.isEmpty());
        CompletableFuture<LockHandle> first = queueing.acquire("deleted").toFuture();
        String waiting = "SELECT count(*) FROM reactive_lock_waiter WHERE lock_key = convert_to('deleted', 'UTF8')";
        Databases.until("the first one waits", () -> database.select(waiting) == 1);

        database.execute("DELETE FROM reactive_lock WHERE lock_key = convert_to('deleted', 'UTF8')");
        LockHandle taken = taking.acquire("deleted").block(Databases.LIMIT);
        CompletableFuture<LockHandle> second =
                client(database.backend()).with(minute).acquire("deleted").toFuture();
        Databases.until("the second one waits too", () -> database.select(waiting) == 2);

        held.renew().onErrorComplete().block(Databases.LIMIT);
        assertThat(held.lost().block(Databases.LIMIT)).isNotNull();
        taken.release().block(Databases.LIMIT);
        for (CompletableFuture<LockHandle> next : List.of(first, second)) {
            LockHandle served =
                    next.orTimeout(60, java.util.concurrent.TimeUnit.SECONDS).join();
            assertThat(served.fencingToken()).isGreaterThan(taken.fencingToken());
            served.release().block(Databases.LIMIT);
        }
        assertThat(database.select(waiting)).isZero();
        listening.dispose();
    }

    @Test
    void aQueuedClaimSilentForLongerThanItsLeaseIsStillServed() {
        R2dbcLockBackend backend = database.backend();
        Claim owner = new Claim("silent", "the owner", "me", Duration.ofMinutes(5), Claim.Mode.QUEUE);
        Claim silent = new Claim("silent", "the silent", "me", Duration.ofMillis(300), Claim.Mode.QUEUE);
        assertThat(backend.claim(owner).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Granted.class);
        assertThat(backend.claim(silent).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Queued.class);
        String dead = "SELECT count(*) FROM reactive_lock_waiter WHERE claim_id = 'the silent' AND alive_until <"
                + " (extract(epoch FROM clock_timestamp()) - 1577836800) * 1000000";
        Databases.until("its place is given up", () -> database.select(dead) == 1);
        assertThat(backend.release(owner).block(Databases.LIMIT)).isTrue();

        assertThat(backend.claim(silent).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Granted.class);

        assertThat(database.select("SELECT count(*) FROM reactive_lock_waiter WHERE claim_id = 'the silent'"))
                .isZero();
        boolean unused = backend.release(silent).block(Databases.LIMIT);
        backend.close().block(Databases.LIMIT);
    }

    @Test
    void fiveHundredHoldsAreRenewedByOneStatement() {
        R2dbcLockBackend backend = database.backend();
        List<Claim> claims = Flux.range(0, 500)
                .map(i -> new Claim(
                        "many " + i, UUID.randomUUID().toString(), "me", Duration.ofMinutes(5), Claim.Mode.QUEUE))
                .collectList()
                .block();
        Flux.fromIterable(claims)
                .flatMap(claim -> backend.claim(claim)
                        .doOnNext(answer -> assertThat(answer).isInstanceOf(ClaimResult.Granted.class)))
                .then()
                .block(Databases.LIMIT);
        Claim stranger = new Claim("many 7", "stranger", "me", Duration.ofSeconds(30), Claim.Mode.QUEUE);
        long before = database.select("SELECT max(lease_end) FROM reactive_lock WHERE claim_id IS NOT NULL");

        assertThat(backend.renew(claims).block(Databases.LIMIT).renewed()).hasSize(500);

        assertThat(database.select(
                        "SELECT min(lease_end) FROM reactive_lock WHERE claim_id IS NOT NULL AND owner = 'me'"))
                .isGreaterThan(before);
        assertThat(backend.renew(List.of(stranger)).block(Databases.LIMIT).lost())
                .containsKey("stranger");
        Flux.fromIterable(claims).flatMap(backend::release).then().block(Databases.LIMIT);
        backend.close().block(Databases.LIMIT);
    }

    @Test
    void anExpiredRowIsTakenOverInPlace() {
        LockOptions brief =
                LockOptions.defaults().withLease(Duration.ofSeconds(3)).withoutRenewal();
        LockHandle expired =
                client(database.backend()).with(brief).acquire("expired").block(Databases.LIMIT);
        LockHandle next = client(database.backend()).acquire("expired").block(Databases.LIMIT);

        assertThat(next.fencingToken()).isGreaterThan(expired.fencingToken());
        assertThat(database.select("SELECT count(*) FROM reactive_lock WHERE lock_key = convert_to('expired', 'UTF8')"))
                .isEqualTo(1);
    }
}
