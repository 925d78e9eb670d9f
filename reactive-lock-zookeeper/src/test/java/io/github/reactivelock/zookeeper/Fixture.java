package io.github.reactivelock.zookeeper;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import reactor.core.Disposable;

/** One ZooKeeper for the tests of a class, a client to look at it, and backends and clients that are closed. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class Fixture {

    /** Error Prone knows it by its name. */
    @interface CanIgnoreReturnValue {}

    /** Far longer than a test takes, which renews nothing. */
    static final Duration LEASE = Duration.ofMinutes(5);
    /** The shortest that a server with its default tick of three seconds agrees to. */
    static final Duration SESSION = Duration.ofSeconds(6);

    TestingServer server;
    CuratorFramework zookeeper;
    private final List<ZooKeeperLockBackend> backends = new ArrayList<>();
    private final List<LockClient> clients = new ArrayList<>();
    private final List<Disposable> listening = new ArrayList<>();
    String key = "";

    @BeforeAll
    void start() throws Exception {
        server = new TestingServer();
        zookeeper = ZooKeepers.client(server.getConnectString());
    }

    @BeforeEach
    void chooseAKeyOfItsOwn() {
        key = "k" + UUID.randomUUID();
    }

    @AfterAll
    void stop() throws Exception {
        zookeeper.close();
        server.close();
    }

    @AfterEach
    void nothingIsLeft() throws InterruptedException {
        closeAll();
        ZooKeepers.until("no claim is left", () -> ZooKeepers.claims(zookeeper).isEmpty());
    }

    final void closeAll() {
        listening.forEach(Disposable::dispose);
        listening.clear();
        clients.forEach(client -> client.close().block(ZooKeepers.LIMIT));
        backends.forEach(backend -> backend.close().block(ZooKeepers.LIMIT));
        clients.clear();
        backends.clear();
    }

    /** Patient, so that a busy machine looks like nothing else than a slow one. */
    static ZooKeeperBackendOptions patient() {
        return ZooKeeperBackendOptions.defaults().withCommandTimeout(Duration.ofSeconds(12));
    }

    ZooKeeperLockBackend backend() {
        return opened(ZooKeeperLockBackend.connect(server.getConnectString(), patient()));
    }

    ZooKeeperLockBackend opened(ZooKeeperLockBackend backend) {
        backends.add(backend);
        return backend;
    }

    LockClient client() {
        return client(ZooKeeperLockBackend.connect(server.getConnectString(), patient()));
    }

    LockClient client(ZooKeeperLockBackend backend) {
        LockClient client = LockClient.builder(backend)
                .commandTimeout(Duration.ofSeconds(15))
                .build();
        clients.add(client);
        return client;
    }

    LockClient promptClient(ZooKeeperLockBackend backend) {
        LockClient client = LockClient.create(backend);
        clients.add(client);
        return client;
    }

    Queue<Signal> listen(ZooKeeperLockBackend backend) throws InterruptedException {
        Queue<Signal> signals = new ConcurrentLinkedQueue<>();
        listening.add(backend.signals().subscribe(signals::add, error -> {}));
        ZooKeepers.until("pushes arrive", () -> signals.contains(new Signal.Reconnected()));
        return signals;
    }

    Claim claim() {
        return claim(key, Claim.Mode.QUEUE, LEASE, Claim.Keeping.RENEWED);
    }

    Claim claim(Share share) {
        return claim(share, LEASE);
    }

    Claim claim(Share share, Duration lease) {
        return new Claim(
                key,
                UUID.randomUUID().toString(),
                "owner of " + key,
                lease,
                Claim.Mode.QUEUE,
                Claim.Keeping.RENEWED,
                share);
    }

    static Claim claim(String key, Claim.Mode mode, Duration lease, Claim.Keeping keeping) {
        return new Claim(key, UUID.randomUUID().toString(), "owner of " + key, lease, mode, keeping);
    }

    static boolean isGranted(Queue<Signal> signals, Claim claim) {
        return signals.stream()
                .anyMatch(signal ->
                        signal instanceof Signal.Grant grant && grant.claimId().equals(claim.id()));
    }

    @CanIgnoreReturnValue
    static long granted(ClaimResult result) {
        return ((ClaimResult.Granted) result).fencingToken();
    }
}
