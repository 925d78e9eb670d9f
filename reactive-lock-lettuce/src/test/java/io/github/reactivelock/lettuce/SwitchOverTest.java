package io.github.reactivelock.lettuce;

import static io.github.reactivelock.lettuce.RedisFixture.PATIENCE;
import static io.github.reactivelock.lettuce.RedisFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.testservers.Loopback;
import io.github.reactivelock.testservers.RedisServer;
import io.github.reactivelock.testservers.TcpProxy;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;

/**
 * A proxy that leads new connections to another server and leaves open ones where they are, and a client that only
 * listens. The old server is a replica then, of which it hears nothing: not even what the new one says.
 */
class SwitchOverTest {

    private final RedisServer old = RedisServer.start();
    private final RedisServer next = RedisServer.start(
            "--replicaof", "127.0.0.1", Integer.toString(old.port()), "--repl-diskless-sync-delay", "0");
    private final TcpProxy proxy = TcpProxy.to(old.port());
    private final LockClient listener = client("redis://127.0.0.1:" + proxy.port());
    private final LockClient before = client(old.uri());
    private final LockClient after = client(next.uri());

    private static LockClient client(String uri) {
        return RedisFixture.client(LettuceLockBackend.connect(uri));
    }

    @AfterEach
    void close() {
        List.of(listener, before, after).forEach(client -> client.close().block(PATIENCE));
        List.of(old, next).forEach(RedisServer::close);
        proxy.close();
    }

    /** Once the next server has a hold on the key. */
    private void switchOver(String key) {
        eventually(
                "it is replicated", () -> Long.valueOf(1).equals(next.command("EXISTS", "{reactivelock:" + key + "}")));
        proxy.leadTo(next.port());
        next.command("REPLICAOF", "NO", "ONE");
        old.command("REPLICAOF", "127.0.0.1", Integer.toString(Loopback.freePort()));
    }

    private LockHandle heldForLong(String key) {
        return before.with(LockOptions.defaults().withLease(PATIENCE.multipliedBy(10)))
                .acquire(key)
                .block(PATIENCE);
    }

    @Test
    void whoWatchesALockIsToldWhatHappensAtTheNewServer() {
        long earlier = heldForLong("a").fencingToken();
        Queue<LockEvent> seen = new ConcurrentLinkedQueue<>();
        Disposable watching = listener.events("a").subscribe(seen::add, error -> {});
        eventually("it watches", () -> !seen.isEmpty());

        switchOver("a");

        eventually(
                "it watches there",
                () -> String.valueOf(next.command("PUBSUB", "CHANNELS")).contains(":events:"));
        assertThat(after.forceRelease("a").block(PATIENCE)).isTrue();
        long token = after.acquire("a").block(PATIENCE).fencingToken();
        assertThat(token).isGreaterThan(earlier);
        eventually(
                "it is told",
                () -> seen.stream()
                        .anyMatch(event ->
                                event instanceof LockEvent.Acquired acquired && acquired.fencingToken() == token));
        watching.dispose();
    }

    @Test
    void whoAwaitsAReleaseIsToldOfOneAtTheNewServer() {
        assertThat(heldForLong("a").isHeld()).isTrue();
        CompletableFuture<Void> awaited = listener.awaitRelease("a").toFuture();
        eventually(
                "it waits",
                () -> String.valueOf(old.command("PUBSUB", "CHANNELS")).contains(":events:"));

        switchOver("a");
        assertThat(after.forceRelease("a").block(PATIENCE)).isTrue();

        assertThat(awaited).succeedsWithin(PATIENCE);
    }
}
