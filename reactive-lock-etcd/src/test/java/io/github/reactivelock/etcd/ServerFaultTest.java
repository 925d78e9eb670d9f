package io.github.reactivelock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.Client;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.LossReason;
import io.github.reactivelock.testservers.TcpProxy;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;

/** Connections that break and servers that stop, come back, or come back empty. */
class ServerFaultTest extends EtcdFixture {

    private static final LockOptions SHORT = LockOptions.defaults().withLease(Duration.ofSeconds(3));

    private TcpProxy proxy;

    @BeforeEach
    void putAProxyBetween() {
        proxy = TcpProxy.to(server.port());
    }

    @AfterEach
    void removeTheProxy() {
        proxy.close();
    }

    private LockClient behindProxy() {
        return client(patient("http://127.0.0.1:" + proxy.port()));
    }

    /** It soon gives up, so it may do so before there is a fault on a busy machine. */
    private LockClient hastyBehindProxy() {
        return client(EtcdLockBackend.connect("http://127.0.0.1:" + proxy.port()));
    }

    private void compact() {
        long now = Etcds.get(etcd.getKVClient().get(KeyLayout.bytes("x")))
                .getHeader()
                .getRevision();
        Etcds.get(etcd.getKVClient().compact(now));
    }

    @Test
    void aWaiterIsServedAfterAReleaseAndACompactionThatItMissed() throws InterruptedException {
        LockHandle held = Etcds.get(client().acquire(key));
        CompletableFuture<LockHandle> waiting = behindProxy().acquire(key).toFuture();
        Etcds.until("it waits", () -> Etcds.claims(etcd).size() == 2);

        proxy.cut();
        Etcds.get(held.release());
        Etcds.get(etcd.getKVClient().put(KeyLayout.bytes("x"), KeyLayout.bytes("later")));
        compact();
        proxy.mend();

        LockHandle next = Etcds.get(waiting);
        assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
        Etcds.get(next.release());
    }

    @Test
    void eventsBeginAnewWithASnapshotAfterACompactionThatTheyMissed() throws InterruptedException {
        Queue<LockEvent> seen = new ConcurrentLinkedQueue<>();
        Disposable watching = behindProxy().events(key).subscribe(seen::add);
        Etcds.until("the watch is in force", () -> !seen.isEmpty());

        proxy.cut();
        LockHandle held = Etcds.get(client().acquire(key));
        Etcds.get(etcd.getKVClient().put(KeyLayout.bytes("x"), KeyLayout.bytes("later")));
        compact();
        proxy.mend();

        Etcds.until("a later snapshot shows the owner", () -> seen.stream().anyMatch(event -> shows(event, held)));
        Etcds.get(held.release());
        LockEvent released = new LockEvent.Released(key, held.fencingToken());
        Etcds.until("the release", () -> seen.contains(released));
        assertThat(seen.stream().filter(event -> !(event instanceof LockEvent.Snapshot)))
                .containsExactly(released);
        watching.dispose();
    }

    private static boolean shows(LockEvent event, LockHandle held) {
        return event instanceof LockEvent.Snapshot snapshot
                && snapshot.info() instanceof LockInfo.Held info
                && info.fencingToken() == held.fencingToken();
    }

    /** One answer of the server serves the renewals of a second, so the first may succeed. */
    private static Throwable failedRenewal(LockHandle held) {
        return Etcds.error(held.renew()
                .repeatWhen(renewed -> renewed.delayElements(Duration.ofMillis(50)))
                .then());
    }

    @Test
    void aCutThatIsMendedBeforeTheDeadlineCostsNothing() {
        LockHandle held = Etcds.get(Etcds.patiently(hastyBehindProxy().acquire(key)));

        proxy.cut();
        assertThat(failedRenewal(held)).isInstanceOf(LockUnavailableException.class);
        proxy.mend();

        Etcds.get(Etcds.patiently(held.renew()));
        assertThat(held.isHeld()).isTrue();
        Etcds.get(held.release());
    }

    @Test
    void anAnswerThatWasLostLeavesNothingBehind() throws InterruptedException {
        LockClient client = hastyBehindProxy();
        Etcds.get(Etcds.get(Etcds.patiently(client.acquire(key + "before"))).release());

        proxy.dropReplies();
        assertThat(Etcds.error(client.acquire(key))).isInstanceOf(LockUnavailableException.class);
        proxy.mend();

        Etcds.get(Etcds.get(client().acquire(key)).release());
    }

    @Test
    void aFirstQuestionWhoseConnectionBreaksIsAskedAgain() throws InterruptedException {
        LockClient client = behindProxy();
        Etcds.get(Etcds.get(client.acquire(key + "before")).release());
        askedWhileAnswersAreLost(client);
    }

    @Test
    void aFirstQuestionOverTheUsersClientWhoseConnectionBreaksIsAskedAgain() throws InterruptedException {
        try (Client users =
                Client.builder().endpoints("http://127.0.0.1:" + proxy.port()).build()) {
            LockClient client = client(EtcdLockBackend.using(users, PATIENT));
            Etcds.get(Etcds.get(client.acquire(key + "before")).release());
            askedWhileAnswersAreLost(client);
            Etcds.get(client.close());
        }
    }

    private void askedWhileAnswersAreLost(LockClient client) throws InterruptedException {
        proxy.dropReplies();
        CompletableFuture<LockHandle> acquired = client.acquire(key).toFuture();
        Etcds.until("it is carried out", () -> Etcds.claims(etcd).size() == 1);
        proxy.mend(); // the connection is reset

        LockHandle held = Etcds.get(acquired);
        assertThat(held.isHeld()).isTrue();
        Etcds.get(held.release());
    }

    @Test
    void aLeaseThatWasRevokedDuringACutIsNotCalledAForcedRelease() {
        LockOptions once =
                LockOptions.defaults().withLease(Duration.ofMinutes(5)).withoutRenewal();
        LockHandle held = Etcds.get(behindProxy().with(once).acquire(key));

        proxy.cut();
        Etcds.get(etcd.getLeaseClient().revoke(Etcds.oldest(etcd).getLease()));
        proxy.mend();

        assertThat(Etcds.get(held.lost()).reason()).isEqualTo(LossReason.SESSION_LOST);
    }

    @Test
    void aServerThatWasPausedForLessThanTheLeaseCostsNothing() {
        LockHandle held = Etcds.get(Etcds.patiently(promptClient().acquire(key)));

        server.pause();
        try {
            assertThat(failedRenewal(held)).isInstanceOf(LockUnavailableException.class);
        } finally {
            server.resume();
        }

        Etcds.get(Etcds.patiently(held.renew()));
        assertThat(held.isHeld()).isTrue();
        Etcds.get(held.release());
    }

    @Test
    void aServerThatWasPausedForLongerLosesTheHoldBeforeItsLeaseEnds() {
        LockHandle held = Etcds.get(Etcds.patiently(promptClient().with(SHORT).acquire(key)));

        server.pause();
        try {
            assertThat(Etcds.get(held.lost())).hasMessageContaining("answer");
        } finally {
            server.resume();
        }

        assertThat(held.isHeld()).isFalse();
        assertThat(Etcds.get(client().acquire(key)).fencingToken()).isGreaterThan(held.fencingToken());
    }

    @Test
    void aClientConnectsSoonAfterALongOutage() throws InterruptedException {
        LockClient client = promptClient();
        LockHandle held = Etcds.get(Etcds.patiently(
                client.with(SHORT.withLease(Duration.ofMinutes(5))).acquire(key)));

        server.stop();
        // By itself gRPC would by now wait for several seconds before each new connection.
        for (int i = 0; i < 8; i++) {
            assertThat(Etcds.error(client.tryAcquire(key + "during")))
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining("cannot be reached")
                    .hasMessageContaining("127.0.0.1:" + server.port());
        }
        server.restart();

        // Once more, because a busy machine may take longer than the two seconds of a command.
        Etcds.get(Etcds.get(client.acquire(key + "after").retry(1)).release());
        assertThat(held.isHeld()).isTrue();
        Etcds.get(Etcds.patiently(held.renew()));
    }

    @Test
    void aServerThatComesBackEmptyLosesTheHold() {
        LockHandle held = Etcds.get(client().with(SHORT).acquire(key));

        server.restartEmpty();

        assertThat(Etcds.get(held.lost()).fencingToken()).isEqualTo(held.fencingToken());
        Etcds.get(Etcds.get(client().acquire(key)).release());
    }

    @Test
    void theUsersClientIsServedByTheSameProtocol() throws Exception {
        try (Client users =
                Client.builder().endpoints("http://127.0.0.1:" + proxy.port()).build()) {
            LockClient client = client(EtcdLockBackend.using(users, PATIENT));
            LockHandle held = Etcds.get(client.acquire(key));
            CompletableFuture<LockHandle> waiting = client().acquire(key).toFuture();
            proxy.reset();
            Etcds.get(Etcds.patiently(held.renew()));
            Etcds.get(held.release());
            Etcds.get(Etcds.get(waiting).release());
            Etcds.get(client.close());
            assertThat(Etcds.works(users)).isTrue();
        }
    }
}
