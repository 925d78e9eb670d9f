package io.github.reactivelock.consul;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.testservers.ConsulServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import reactor.core.Disposable;

/** One Consul for the tests of a class, and backends and clients that are closed. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class Fixture {

    /** Error Prone knows it by its name. */
    @interface CanIgnoreReturnValue {}

    /** Far longer than a test takes, which renews nothing. */
    static final Duration LEASE = Duration.ofMinutes(5);

    ConsulServer server;
    private final List<ConsulLockBackend> backends = new ArrayList<>();
    private final List<LockClient> clients = new ArrayList<>();
    private final List<Disposable> listening = new ArrayList<>();
    String key = "";

    @BeforeAll
    void start() {
        server = startServer();
    }

    ConsulServer startServer() {
        return ConsulServer.start();
    }

    @BeforeEach
    void chooseAKeyOfItsOwn() {
        key = "k" + UUID.randomUUID();
    }

    @AfterAll
    void stop() {
        server.close();
    }

    @AfterEach
    void nothingIsLeft() {
        closeAll();
        Consuls.until("no key is left", () -> Consuls.keys(server).isEmpty());
    }

    final void closeAll() {
        listening.forEach(Disposable::dispose);
        listening.clear();
        clients.forEach(client -> client.close().block(Consuls.LIMIT));
        backends.forEach(backend -> backend.close().block(Consuls.LIMIT));
        clients.clear();
        backends.clear();
    }

    ConsulLockBackend backend() {
        return opened(ConsulLockBackend.connect(server.uri(), Consuls.patient()));
    }

    ConsulLockBackend opened(ConsulLockBackend backend) {
        backends.add(backend);
        return backend;
    }

    LockClient client() {
        return client(ConsulLockBackend.connect(server.uri(), Consuls.patient()));
    }

    LockClient client(ConsulLockBackend backend) {
        LockClient client = LockClient.builder(backend)
                .commandTimeout(Duration.ofSeconds(15))
                .build();
        clients.add(client);
        return client;
    }

    Queue<Signal> listen(ConsulLockBackend backend) {
        Queue<Signal> signals = new ConcurrentLinkedQueue<>();
        listening.add(backend.signals().subscribe(signals::add, error -> {}));
        Consuls.until("pushes arrive", () -> signals.contains(new Signal.Reconnected()));
        return signals;
    }

    Claim claim() {
        return claim(Claim.Mode.QUEUE, LEASE);
    }

    Claim claim(Claim.Mode mode, Duration lease) {
        return new Claim(key, UUID.randomUUID().toString(), "owner of " + key, lease, mode);
    }

    @CanIgnoreReturnValue
    static long granted(ClaimResult result) {
        return ((ClaimResult.Granted) result).fencingToken();
    }
}
