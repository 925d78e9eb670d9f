package io.github.reactivelock.lettuce;

import static io.github.reactivelock.lettuce.RedisFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.redis.RedisBackendOptions;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.LossReason;
import io.github.reactivelock.testservers.RedisSentinel;
import io.github.reactivelock.testservers.RedisServer;
import io.github.reactivelock.testservers.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** What happens to locks when another server becomes the primary. */
class FailoverTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final RedisBackendOptions ONE_REPLICA =
            RedisBackendOptions.defaults().withReplicas(1, Duration.ofSeconds(1));

    private final List<LockClient> clients = new ArrayList<>();
    private final List<AutoCloseable> servers = new ArrayList<>();

    @AfterEach
    void stop() throws Exception {
        Flux.fromIterable(clients).flatMap(LockClient::close).blockLast(PATIENCE);
        for (AutoCloseable server : servers) {
            server.close();
        }
    }

    @Test
    void theServerThatTheSentinelsNamedLastIsToldInASilence() {
        RedisSentinel set = closing(RedisSentinel.start(1));
        LettuceLockBackend backend = LettuceLockBackend.connect(set.uri());
        client(backend).acquire("a").block(PATIENCE);
        RedisServer first = set.primary();
        assertThat(backend.whySilent("a")).contains("last found at 127.0.0.1:" + first.port() + " is up");

        first.kill();

        eventually("a replica is the primary", PATIENCE, () -> set.primary() != first);
        String second = "last found at 127.0.0.1:" + set.primary().port();
        eventually("it is named", PATIENCE, () -> backend.whySilent("a").contains(second));
    }

    @ParameterizedTest
    @ValueSource(strings = {"killed", "paused"})
    void afterAFailoverBySentinelsWaitersAreServedAndHoldsGoOn(String how) {
        RedisSentinel set = closing(RedisSentinel.start(2));
        LockClient holder = client(LettuceLockBackend.connect(set.uri()));
        LockClient waiter = client(LettuceLockBackend.connect(set.uri()));
        LockHandle held = holder.acquire("a").block(PATIENCE);
        LockHandle kept = holder.acquire("kept").block(PATIENCE);
        List<Long> tokens = new ArrayList<>();
        AtomicInteger served = new AtomicInteger();
        Disposable waiting = Flux.range(0, 20)
                .flatMap(
                        i -> waiter.withLock(
                                "a",
                                handle -> Mono.fromRunnable(() -> {
                                    tokens.add(handle.fencingToken());
                                    served.incrementAndGet();
                                })),
                        20)
                .subscribe();
        eventually("somebody waits", PATIENCE, () -> waiters(holder, "a") == 1);
        RedisServer first = set.primary();
        eventually(
                "the replicas are in step",
                PATIENCE,
                () -> set.servers().stream()
                        .filter(server -> server != first)
                        .allMatch(replica -> inStep(first, replica)));

        if (how.equals("killed")) {
            first.kill();
        } else {
            first.pause();
        }
        eventually("a replica is the primary", PATIENCE, () -> set.primary() != first);
        held.release().onErrorComplete().block(PATIENCE);

        eventually("all are served", PATIENCE, () -> served.get() == 20);
        assertThat(tokens)
                .isSorted()
                .first()
                .asInstanceOf(org.assertj.core.api.InstanceOfAssertFactories.LONG)
                .isGreaterThan(held.fencingToken());
        eventually(
                "the other hold is confirmed by the new primary",
                PATIENCE,
                () -> Boolean.TRUE.equals(
                        kept.renew().thenReturn(true).onErrorReturn(false).block(PATIENCE)));
        assertThat(kept.isHeld()).isTrue();
        waiting.dispose();
    }

    @Test
    void aHoldUnknownToThePromotedReplicaIsLostAndTokensRise() {
        Pair pair = new Pair();
        LockClient lock = client(LettuceLockBackend.connectPrimary(pair.uris()));
        LockClient other = client(LettuceLockBackend.connectPrimary(pair.uris()));
        LockHandle before = lock.acquire("a").block(PATIENCE);
        before.release().block(PATIENCE);
        pair.untilInStep();

        pair.link.cut();
        AtomicReference<LockLostException> lost = new AtomicReference<>();
        // So long that its first renewal comes after the patience of this test and cannot be what finds out.
        LockOptions patient = LockOptions.defaults().withLease(PATIENCE.multipliedBy(10));
        LockHandle held = lock.with(patient).acquire("a").block(PATIENCE);
        Disposable listening = held.lost().subscribe(lost::set);
        assertThat(held.fencingToken()).isGreaterThan(before.fencingToken());
        pair.promote();

        eventually("the loss is signalled", PATIENCE, () -> lost.get() != null);
        assertThat(lost.get().reason()).isEqualTo(LossReason.EXPIRED);
        LockHandle next = other.acquire("a").block(PATIENCE);
        assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
        listening.dispose();
    }

    @Test
    void aFailoverBeforeAClientsFirstListeningIsFoundAtOnce() {
        Pair pair = new Pair();
        // The primary lets it take locks and not listen; the replica lets it do both.
        pair.primary.command("ACL", "SETUSER", "locks", "on", ">pw", "~*", "resetchannels", "+@all");
        pair.replica.command("ACL", "SETUSER", "locks", "on", ">pw", "~*", "&*", "+@all");
        LockClient lock = client(LettuceLockBackend.connectPrimary(pair.uris().stream()
                .map(uri -> uri.replace("//", "//locks:pw@"))
                .toList()));
        pair.untilInStep();
        pair.link.cut();
        LockOptions patient = LockOptions.defaults().withLease(PATIENCE.multipliedBy(10));
        LockHandle held = lock.with(patient).acquire("a").block(PATIENCE);

        pair.promote();

        assertThat(held.lost().block(PATIENCE).reason()).isEqualTo(LossReason.EXPIRED);
    }

    @Test
    void aGrantThatNoReplicaAcknowledgesIsGivenBackAndSaysWhy() {
        Pair pair = new Pair();
        LockClient lock = client(LettuceLockBackend.connectPrimary(pair.uris(), ONE_REPLICA));
        LockHandle first = patiently(lock.acquire("a"));
        first.release().block(PATIENCE);

        pair.link.freeze();
        assertThatThrownBy(() -> lock.tryAcquire("a").block(PATIENCE))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("0 of the 1 replicas")
                .hasMessageContaining("withReplicas");
        assertThatThrownBy(() -> lock.acquire("a").block(PATIENCE)).isInstanceOf(LockUnavailableException.class);
        eventually("it was given back", PATIENCE, () -> lock.inspect("a").block(PATIENCE) instanceof LockInfo.Free);

        pair.link.mend();
        pair.untilInStep();
        LockHandle next = patiently(lock.acquire("a"));
        assertThat(next.fencingToken()).isGreaterThan(first.fencingToken());
    }

    @Test
    void anUnacknowledgedHoldIsLostBeforeThePromotedReplicaForgetsIt() {
        Pair pair = new Pair();
        LockOptions options = LockOptions.defaults().withLease(Duration.ofSeconds(3));
        LockClient lock = client(LettuceLockBackend.connectPrimary(pair.uris(), ONE_REPLICA));
        LockClient other = client(LettuceLockBackend.connect(pair.replica.uri()));
        LockHandle held = patiently(lock.with(options).acquire("a"));

        pair.link.cut();
        pair.replica.command("REPLICAOF", "NO", "ONE");
        LockHandle next = other.acquire("a").block(PATIENCE);

        assertThat(held.isHeld()).isFalse();
        assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
    }

    @Test
    void aPrimaryThatBecomesAReplicaWithoutEndingItsConnectionsIsLeft() {
        Pair pair = new Pair();
        LockClient lock = client(LettuceLockBackend.connectPrimary(pair.uris()));
        LockHandle held = lock.acquire("a").block(PATIENCE);
        pair.untilInStep();

        pair.replica.command("REPLICAOF", "NO", "ONE");
        pair.primary.command("REPLICAOF", "127.0.0.1", Integer.toString(pair.replica.port()));

        LockHandle second = lock.acquire("b").block(PATIENCE);
        assertThat(pair.replica.command("EXISTS", "{reactivelock:b}")).isEqualTo(1L);
        held.release().block(PATIENCE);
        second.release().block(PATIENCE);
        assertThat(pair.replica.command("EXISTS", "{reactivelock:a}")).isEqualTo(0L);
    }

    @Test
    void twoPrimariesAreRefused() {
        RedisServer one = closing(RedisServer.start());
        RedisServer two = closing(RedisServer.start());
        LockClient lock = client(LettuceLockBackend.connectPrimary(List.of(one.uri(), two.uri())));

        assertThatThrownBy(() -> lock.acquire("a").block(PATIENCE))
                .isInstanceOf(LockUnavailableException.class)
                .hasStackTraceContaining(
                        "more than one primary: 127.0.0.1:" + one.port() + ", 127.0.0.1:" + two.port());
    }

    /** A primary and a replica whose link can be cut. */
    private final class Pair {

        final RedisServer primary = closing(RedisServer.start());
        final TcpProxy link = closing(TcpProxy.to(primary.port()));
        final RedisServer replica = closing(
                RedisServer.start("--replicaof", "127.0.0.1", "" + link.port(), "--repl-diskless-sync-delay", "0"));

        Pair() {
            untilInStep();
        }

        List<String> uris() {
            return List.of(primary.uri(), replica.uri());
        }

        void untilInStep() {
            eventually("the replica is in step", PATIENCE, () -> inStep(primary, replica));
        }

        /** The primary dies and the replica takes its place. */
        void promote() {
            primary.kill();
            replica.command("REPLICAOF", "NO", "ONE");
        }
    }

    /** Compares offsets: {@code WAIT} would only tell of what its own connection wrote. */
    private static boolean inStep(RedisServer primary, RedisServer replica) {
        List<?> there = (List<?>) replica.command("ROLE");
        List<?> here = (List<?>) primary.command("ROLE");
        return there.contains("connected") && String.valueOf(there.get(4)).equals(String.valueOf(here.get(1)));
    }

    private <T extends AutoCloseable> T closing(T server) {
        servers.add(0, server);
        return server;
    }

    private LockClient client(LettuceLockBackend backend) {
        assertThat(backend.inspect("warm up")
                        .onErrorReturn(new LockInfo.Free(""))
                        .block(PATIENCE))
                .isNotNull();
        LockClient made = RedisFixture.client(backend);
        clients.add(made);
        return made;
    }

    /** The grant, though on a busy machine the replica may acknowledge later than it is waited for. */
    private static LockHandle patiently(Mono<LockHandle> acquisition) {
        return acquisition
                .retryWhen(Retry.fixedDelay(20, Duration.ofMillis(200)))
                .block(PATIENCE);
    }

    private static long waiters(LockClient lock, String key) {
        return lock.inspect(key).block(PATIENCE) instanceof LockInfo.Held held ? held.waiters() : 0;
    }
}
