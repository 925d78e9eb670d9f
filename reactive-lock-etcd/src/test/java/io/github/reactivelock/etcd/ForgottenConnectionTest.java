package io.github.reactivelock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.testservers.EtcdServer;
import io.github.reactivelock.testservers.Pause;
import io.github.reactivelock.testservers.TcpProxy;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A connection that dies without a word is left, long before TCP or gRPC give it up: new ones work. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ForgottenConnectionTest {

    /** A waiter asks by itself after a third of the lease, far too late to help. */
    private static final LockOptions LONG = LockOptions.defaults().withLease(Duration.ofMinutes(30));

    /** Shorter than gRPC's own thirteen seconds. */
    private static final Duration SOON = Duration.ofSeconds(10);

    private List<EtcdServer> members = List.of();
    private List<TcpProxy> proxies = List.of();
    private LockClient near;
    private LockClient far;

    @BeforeAll
    void start() {
        members = EtcdServer.cluster(3);
    }

    @AfterAll
    void stop() {
        members.forEach(EtcdServer::close);
    }

    private void connect(int many) {
        List<EtcdServer> known = members.subList(0, many);
        proxies = known.stream().map(member -> TcpProxy.to(member.port())).toList();
        near = client(known.stream().map(EtcdServer::uri).toArray(String[]::new));
        far = client(proxies.stream()
                .map(proxy -> "http://127.0.0.1:" + proxy.port())
                .toArray(String[]::new));
    }

    private static LockClient client(String... endpoints) {
        return LockClient.builder(EtcdFixture.patient(endpoints))
                .options(LONG)
                .commandTimeout(Duration.ofSeconds(40))
                .build();
    }

    private void close() {
        far.close().block(Etcds.LIMIT);
        near.close().block(Etcds.LIMIT);
        proxies.forEach(TcpProxy::close);
    }

    /** On a busy machine it may take longer, so that all is tried again then. */
    private static void untilServedSoon(BooleanSupplier isServedSoon) {
        Pause.until("a waiter is served soon", Duration.ofMinutes(3), isServedSoon);
    }

    /** By new clients: others have connections to other members by then. */
    private boolean withNewClients(int many, BooleanSupplier isServedSoon) {
        connect(many);
        try {
            return isServedSoon.getAsBoolean();
        } finally {
            close();
        }
    }

    private boolean isServedSoonAfter(Runnable fault) {
        String key = "k" + UUID.randomUUID();
        LockHandle before = Etcds.get(near.acquire(key));
        CompletableFuture<LockHandle> waiting = far.acquire(key).toFuture();
        Etcds.until(
                "it waits", () -> Etcds.get(near.inspect(key)) instanceof LockInfo.Held held && held.waiters() == 1);
        fault.run();
        long begun = System.nanoTime();
        Etcds.get(before.release());
        LockHandle served = Etcds.get(waiting);
        boolean isSoon = System.nanoTime() - begun < SOON.toNanos();
        Etcds.get(served.release());
        return isSoon;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aWaiterIsServedAndClaimsAreAnsweredThoughAllWereForgotten(int many) {
        untilServedSoon(() -> withNewClients(many, this::isServedSoonThoughAllWereForgotten));
    }

    private boolean isServedSoonThoughAllWereForgotten() {
        LockHandle held =
                Etcds.get(far.with(LONG.withLease(Duration.ofSeconds(20))).acquire("held" + UUID.randomUUID()));
        boolean isSoon = isServedSoonAfter(() -> proxies.forEach(TcpProxy::forget));
        Etcds.get(Etcds.get(far.acquire("new" + UUID.randomUUID())).release());
        Etcds.get(held.renew().thenReturn(true));
        assertThat(held.isHeld()).isTrue();
        Etcds.get(held.release());
        return isSoon;
    }

    /** Others answer, so that claims go on; only what was watched over the one that died is not told. */
    @Test
    void aWaiterIsServedThoughTheConnectionToOneMemberWasForgotten() {
        untilServedSoon(() -> IntStream.range(0, 3)
                .allMatch(one -> withNewClients(
                        3, () -> isServedSoonAfter(() -> proxies.get(one).forget()))));
    }
}
