package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.testservers.PostgresServer;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** A PostgreSQL that is killed between a release, which does not wait for the disk, and its way there. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CrashTest {

    private static final Duration LEASE = Duration.ofSeconds(8);

    private PostgresServer server;
    private Databases database;

    @BeforeAll
    void start() {
        // Nothing but a commit that waits for the disk brings a release there, for as long as the server lets one
        // choose.
        server = PostgresServer.start("-c", "synchronous_commit=on", "-c", "wal_writer_delay=10s");
        database = new Databases(server.url(), server::close);
        database.createTables();
    }

    @AfterAll
    void stop() {
        database.close();
    }

    private LockClient client() {
        return Databases.client(database.backend()).with(LockOptions.defaults().withLease(LEASE));
    }

    private static Claim claim(String key, Duration lease) {
        return new Claim(key, UUID.randomUUID().toString(), "me", lease, Claim.Mode.QUEUE);
    }

    private static <T> T get(Mono<T> answer) {
        return answer.block(Databases.LIMIT);
    }

    private static <T> T within(CompletableFuture<T> answer) {
        return answer.orTimeout(Databases.LIMIT.toSeconds(), TimeUnit.SECONDS).join();
    }

    /** What the row of a lock says, ended leases too. */
    private long row(String column, String key) {
        return database.select("SELECT coalesce(max(" + column + "), 0) FROM reactive_lock WHERE claim_id IS NOT NULL"
                + " AND lock_key = convert_to('" + key + "', 'UTF8')");
    }

    private long tokenOf(Claim claim) {
        return database.select(
                "SELECT coalesce(max(token), 0) FROM reactive_lock WHERE claim_id = '" + claim.id() + "'");
    }

    private static long granted(Mono<ClaimResult> claim) {
        return ((ClaimResult.Granted) get(claim)).fencingToken() >> LockBackend.PASS_BITS;
    }

    private static void release(LockHandle held) {
        held.release().retry(5).block(Databases.LIMIT);
    }

    @Test
    void aReleaseThatIsForgottenCostsTheRestOfItsLeaseAndNothingElse() {
        LockClient one = client();
        LockClient other = client();
        LockHandle first = get(one.acquire("forgotten").retry(5));
        long before = first.fencingToken();
        release(first);
        server.restart();
        while (row("token", "forgotten") == 0) { // the server may have written it of its own accord
            first = get(one.acquire("forgotten").retry(5));
            assertThat(first.fencingToken()).isGreaterThan(before);
            before = first.fencingToken();
            release(first);
            server.restart();
        }
        long end = row("lease_end", "forgotten");
        assertThat(row("token", "forgotten")).isEqualTo(before >> LockBackend.PASS_BITS);
        release(first); // is known to be over, and asks nothing

        Queue<LockEvent> seen = new ConcurrentLinkedQueue<>();
        Disposable watching = one.events("forgotten").subscribe(seen::add);
        Databases.until("the watch is in force", () -> !seen.isEmpty());
        CompletableFuture<LockHandle> again = one.acquire("forgotten").retry(5).toFuture();
        CompletableFuture<LockHandle> others =
                other.acquire("forgotten").retry(5).toFuture();

        LockHandle next = (LockHandle) within(CompletableFuture.anyOf(again, others));
        CompletableFuture<LockHandle> behind = again.isDone() ? others : again; // a moment later both may be served
        assertThat(row("lease_end", "forgotten")).isGreaterThan(end);
        assertThat(next.fencingToken() >> LockBackend.PASS_BITS).isGreaterThanOrEqualTo(end);
        release(next);
        LockHandle last = within(behind);
        assertThat(last.fencingToken()).isGreaterThan(next.fencingToken());
        release(last);
        Databases.until(
                "both are announced", () -> seen.contains(new LockEvent.Released("forgotten", last.fencingToken())));
        assertThat(seen.stream().filter(LockEvent.Acquired.class::isInstance)).hasSize(2);
        assertThat(get(one.inspect("forgotten"))).isEqualTo(new LockInfo.Free("forgotten"));
        watching.dispose();
        one.close().then(other.close()).block(Databases.LIMIT);
    }

    @Test
    void aCrashForgetsNeitherAGrantNorTheReleaseBeforeIt() {
        R2dbcLockBackend backend = database.backend();
        Claim held = claim("held", Duration.ofMinutes(10));
        Claim waiting = claim("held", Duration.ofMinutes(10));
        Claim kept = claim("held", Duration.ofMinutes(10));

        long first = granted(afterARelease(backend, "a", backend.claim(held)));
        assertThat(tokenOf(held)).isEqualTo(first);

        assertThat(get(afterARelease(backend, "b", backend.claim(waiting)))).isInstanceOf(ClaimResult.Queued.class);
        assertThat(database.select("SELECT count(*) FROM reactive_lock_waiter WHERE claim_id = '" + waiting.id() + "'"))
                .isEqualTo(1);

        assertThat(get(afterARelease(backend, "c", backend.release(held)))).isTrue();
        long second = tokenOf(waiting);
        assertThat(second).isGreaterThan(first);

        long end = row("lease_end", "held");
        assertThat(get(afterARelease(backend, "d", backend.renew(List.of(waiting))))
                        .renewed())
                .containsExactly(waiting.id());
        assertThat(row("lease_end", "held")).isGreaterThan(end);

        assertThat(get(afterARelease(backend, "e", backend.keep(waiting, kept))))
                .isTrue();
        assertThat(tokenOf(kept)).isEqualTo(second);
        backend.close().block(Databases.LIMIT);
    }

    /** Another lock is released, then something happens and is confirmed, and at once the server is killed. */
    private <T> Mono<T> afterARelease(LockBackend backend, String key, Mono<T> step) {
        return Mono.fromCallable(() -> {
            Claim released = claim(key, LEASE);
            long unused = granted(backend.claim(released));
            assertThat(get(backend.release(released))).isTrue();
            T answer = get(step);
            server.restart();
            assertThat(row("token", key)).as("the release of %s", key).isZero();
            return answer;
        });
    }
}
