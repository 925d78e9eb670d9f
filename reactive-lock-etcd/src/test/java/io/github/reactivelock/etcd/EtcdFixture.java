package io.github.reactivelock.etcd;

import io.etcd.jetcd.Client;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.testservers.EtcdServer;
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

/** One etcd for the tests of a class, a jetcd client to look at it, and backends and clients that are closed. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class EtcdFixture {

    /** Far longer than a test takes, which renews nothing. */
    static final Duration LEASE = Duration.ofMinutes(5);

    static final EtcdBackendOptions PATIENT = EtcdBackendOptions.defaults().withCommandTimeout(Duration.ofSeconds(30));

    EtcdServer server;
    Client etcd;
    private final List<EtcdLockBackend> backends = new ArrayList<>();
    private final List<LockClient> clients = new ArrayList<>();
    private final List<Disposable> listening = new ArrayList<>();
    String key = "";

    @BeforeAll
    void start() {
        server = EtcdServer.start();
        etcd = Client.builder().endpoints(server.uri()).build();
        // Loads a thousand classes, which on a busy machine takes longer than a command may.
        Etcds.works(etcd);
    }

    @BeforeEach
    void chooseAKeyOfItsOwn() {
        key = "k" + UUID.randomUUID();
    }

    @AfterAll
    void stop() {
        etcd.close();
        server.close();
    }

    @AfterEach
    void nothingIsLeft() {
        listening.forEach(Disposable::dispose);
        listening.clear();
        clients.forEach(client -> client.close().block(Etcds.LIMIT));
        backends.forEach(backend -> backend.close().block(Etcds.LIMIT));
        clients.clear();
        backends.clear();
        Etcds.assertNoClaims(etcd);
    }

    /** Patient, so that a busy machine looks like nothing else than a slow one. */
    EtcdLockBackend backend() {
        return opened(patient());
    }

    private EtcdLockBackend patient() {
        return patient(server.uri());
    }

    static EtcdLockBackend patient(String... endpoints) {
        return EtcdLockBackend.connect(Client.builder().endpoints(endpoints), PATIENT);
    }

    EtcdLockBackend opened(EtcdLockBackend backend) {
        backends.add(backend);
        return backend;
    }

    LockClient client() {
        return client(patient());
    }

    LockClient client(EtcdLockBackend backend) {
        return opened(LockClient.builder(backend)
                .commandTimeout(Duration.ofSeconds(40))
                .build());
    }

    LockClient promptClient() {
        return opened(LockClient.create(EtcdLockBackend.connect(server.uri())));
    }

    LockClient opened(LockClient client) {
        clients.add(client);
        return client;
    }

    Queue<Signal> listen(EtcdLockBackend backend) throws InterruptedException {
        Queue<Signal> signals = new ConcurrentLinkedQueue<>();
        listening.add(backend.signals().subscribe(signals::add));
        Etcds.until("pushes arrive", () -> signals.contains(new Signal.Reconnected()));
        return signals;
    }

    Claim claim() {
        return claim(key, Claim.Mode.QUEUE, LEASE, Claim.Keeping.RENEWED);
    }

    static Claim claim(String key, Claim.Mode mode, Duration lease, Claim.Keeping keeping) {
        return new Claim(key, UUID.randomUUID().toString(), "owner of " + key, lease, mode, keeping);
    }

    static long granted(ClaimResult result) {
        return ((ClaimResult.Granted) result).fencingToken();
    }
}
