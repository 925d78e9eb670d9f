package io.github.reactivelock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.PutOption;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What becomes of claims whose lease or key goes without their doing, and what keeps a lease. */
class LeaseLossTest extends EtcdFixture {

    private static final LockOptions SHORT = LockOptions.defaults().withLease(Duration.ofSeconds(9));
    private static final String KEEP_ALIVES = "grpc_server_started_total{grpc_method=\"LeaseKeepAlive\"";
    private static final String LISTS = "grpc_server_started_total{grpc_method=\"LeaseTimeToLive\"";

    @Test
    void anOperatorWhoRevokesTheLeaseEndsTheHoldAsALostSession() {
        LockHandle held = Etcds.get(client().with(SHORT).acquire(key));
        long lease = Etcds.claims(etcd).get(0).getLease();

        Etcds.get(etcd.getLeaseClient().revoke(lease));

        assertThat(Etcds.get(held.lost()).reason()).isEqualTo(LossReason.SESSION_LOST);
        LockHandle next = Etcds.get(client().acquire(key));
        assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
    }

    @Test
    void aRevokedLeaseIsNoticedThoughNoRenewalIsDueForLong() throws InterruptedException {
        LockOptions renewed = LockOptions.defaults().withLease(Duration.ofMinutes(5));
        for (LockOptions options : List.of(renewed, renewed.withoutRenewal())) {
            LockClient client = client();
            LockHandle held = Etcds.get(client.with(options).acquire(key));
            List<KeyValue> marked = new ArrayList<>();
            Etcds.until("the lease is marked", () -> {
                marked.clear();
                marked.addAll(Etcds.get(Mono.fromFuture(etcd.getKVClient()
                                .get(
                                        KeyLayout.bytes("reactivelock/!"),
                                        GetOption.builder().isPrefix(true).build())))
                        .getKvs());
                return marked.size() == 1;
            });

            Etcds.get(etcd.getLeaseClient().revoke(marked.get(0).getLease()));

            assertThat(Etcds.get(held.lost()).reason()).isEqualTo(LossReason.SESSION_LOST);
            Etcds.get(client.close());
        }
    }

    @Test
    void aClientWhoseLeaseWasRevokedAcquiresOnANewOne() {
        LockClient client = client().with(SHORT);
        Etcds.get(Etcds.get(client.acquire(key + "1")).release());
        LockHandle other = Etcds.get(client.acquire(key + "2"));
        Etcds.get(etcd.getLeaseClient().revoke(Etcds.claims(etcd).get(0).getLease()));

        LockHandle held = Etcds.get(client.acquire(key + "3"));

        assertThat(held.isHeld()).isTrue();
        assertThat(Etcds.get(other.lost()).reason()).isEqualTo(LossReason.SESSION_LOST);
        Etcds.get(held.renew());
    }

    @Test
    void anOperatorWhoDeletesTheKeyEndsTheHold() {
        LockHandle held = Etcds.get(client().with(SHORT).acquire(key));

        Etcds.get(etcd.getKVClient().delete(Etcds.claims(etcd).get(0).getKey()));

        assertThat(Etcds.get(held.lost()).reason()).isEqualTo(LossReason.EXPIRED);
        assertThat(Etcds.get(client().acquire(key)).fencingToken()).isGreaterThan(held.fencingToken());
    }

    /** An answer may be four megabytes long by jetcd's own limit, and a list has the name of every key of a lease. */
    @Test
    void aDeletedKeyEndsTheHoldThoughItsLeaseListsMoreThanFourMegabytes() {
        LockHandle held = Etcds.get(client().with(SHORT).acquire(key));
        KeyValue claim = Etcds.claims(etcd).get(0);
        PutOption bound = PutOption.builder().withLeaseId(claim.getLease()).build();
        for (int i = 0; i < 6; i++) {
            ByteSequence name = KeyLayout.bytes("others/!" + i + "x".repeat(800_000));
            Etcds.get(etcd.getKVClient().put(name, ByteSequence.EMPTY, bound));
        }

        Etcds.get(etcd.getKVClient().delete(claim.getKey()));

        assertThat(Etcds.get(held.lost()).reason()).isEqualTo(LossReason.EXPIRED);
    }

    @Test
    void aWaiterWhoseLeaseDiesWhileItQueuesStandsInLineAgain() throws InterruptedException {
        LockHandle held = Etcds.get(client().acquire(key));
        CompletableFuture<LockHandle> waiting =
                client().with(SHORT).acquire(key).toFuture();
        Etcds.until("it waits", () -> Etcds.claims(etcd).size() == 2);
        KeyValue waiter = Etcds.claims(etcd).stream()
                .filter(claim -> claim.getCreateRevision() << 12 != held.fencingToken())
                .findAny()
                .orElseThrow();

        Etcds.get(etcd.getLeaseClient().revoke(waiter.getLease()));
        Etcds.until("it waits again", () -> Etcds.claims(etcd).size() == 2);
        Etcds.get(held.release());

        assertThat(Etcds.get(waiting).fencingToken()).isGreaterThan(waiter.getCreateRevision() << 12);
    }

    @Test
    void aWaiterWithoutAKeyIsNotServedWhenItsPredecessorGoes() throws InterruptedException {
        LockHandle held = Etcds.get(client().acquire(key));
        CompletableFuture<LockHandle> waiting = client().acquire(key).toFuture();
        Etcds.until("it waits", () -> Etcds.claims(etcd).size() == 2);
        LockClient rival = client();
        CompletableFuture<LockHandle> behind = rival.acquire(key).toFuture();
        Etcds.until("one more waits", () -> Etcds.claims(etcd).size() == 3);
        List<KeyValue> line = new ArrayList<>(Etcds.claims(etcd));
        line.sort((a, b) -> Long.compare(a.getCreateRevision(), b.getCreateRevision()));

        Etcds.get(etcd.getKVClient().delete(line.get(1).getKey()));
        Etcds.get(held.release());

        LockHandle next = Etcds.get(behind);
        Etcds.until("the other one waits again", () -> Etcds.claims(etcd).size() == 2);
        assertThat(waiting).isNotDone();
        Etcds.get(next.release());
        assertThat(Etcds.get(waiting).fencingToken()).isGreaterThan(next.fencingToken());
    }

    @Test
    void aKeyThatWasPutTooLateForItsClaimIsRemoved() {
        LockClient client = client().with(SHORT);
        LockHandle held = Etcds.get(client.acquire(key + "other"));
        long lease = Etcds.claims(etcd).get(0).getLease();

        // As a put would that was on its way while its claim was withdrawn and its answer lost.
        Etcds.get(etcd.getKVClient()
                .put(
                        KeyLayout.bytes("reactivelock/" + key + "/withdrawn.1"),
                        KeyLayout.bytes("session owner"),
                        PutOption.builder().withLeaseId(lease).build()));

        LockHandle next = Etcds.get(client().acquire(key));
        assertThat(held.isHeld()).isTrue();
        Etcds.get(next.release());
    }

    @Test
    void aStrayOfAnOldListIsKeptWhereItOutlastsItsHold() {
        KeyLayout names = new KeyLayout("reactivelock");
        Etcd commands = new Etcd(ClientSource.of(etcd), PATIENT);
        ClaimRegistry line = new ClaimRegistry(
                commands,
                new ClaimKeys(commands, names, () -> "me"),
                new SignalSink(commands, () -> names.notice("me")));
        Claim held = claim();
        Claim kept = claim();
        Etcds.get(line.claim(held));
        KeyValue listed = Etcds.oldest(etcd);
        Etcds.get(line.keep(held, kept));

        Etcds.get(line.stray(listed.getKey(), listed.getLease()));

        assertThat(Etcds.get(line.release(kept))).isTrue();
        Etcds.get(line.close());
    }

    @Test
    void aStrayOfAnOldListIsKeptWhereItsPlaceIsReused() {
        KeyLayout names = new KeyLayout("reactivelock");
        Etcd commands = new Etcd(ClientSource.of(etcd), PATIENT);
        ClaimRegistry line = new ClaimRegistry(
                commands,
                new ClaimKeys(commands, names, () -> "me"),
                new SignalSink(commands, () -> names.notice("me")));
        Claim earlier = claim();
        Etcds.get(line.claim(earlier));
        ByteSequence listed = Etcds.oldest(etcd).getKey();
        Etcds.get(line.release(earlier));
        Claim claim = claim();
        Etcds.get(line.claim(claim));
        assertThat(Etcds.oldest(etcd).getKey()).isEqualTo(listed);

        Etcds.get(line.stray(listed, Etcds.oldest(etcd).getLease()));
        assertThat(Etcds.claims(etcd)).hasSize(1);

        assertThat(Etcds.get(line.release(claim))).isTrue();
        Etcds.get(line.close());
    }

    @Test
    void lossesAreSeenBehindTheNamespaceOfTheUsersClient() throws InterruptedException {
        try (Client users = Client.builder()
                .endpoints(server.uri())
                .namespace(KeyLayout.bytes("apps/shop/"))
                .build()) {
            LockClient client = client(EtcdLockBackend.using(users, PATIENT)).with(SHORT);
            LockHandle kept = Etcds.get(client.acquire(key + "kept"));
            LockHandle held = Etcds.get(client.acquire(key));
            KeyValue claim = Etcds.claims(users).stream()
                    .filter(kv -> kv.getCreateRevision() << 12 == held.fencingToken())
                    .findAny()
                    .orElseThrow();

            Etcds.get(users.getKVClient().delete(claim.getKey()));

            assertThat(Etcds.get(held.lost()).reason()).isEqualTo(LossReason.EXPIRED);
            assertThat(kept.isHeld()).isTrue();
            Etcds.get(client.close());
            Etcds.assertNoClaims(users);
        }
    }

    @Test
    void tenThousandHoldsAreKeptByOneQuestion() throws InterruptedException {
        EtcdLockBackend backend = backend();
        // A busy machine may take a minute for so many, and none of them is renewed meanwhile.
        Duration lease = Duration.ofMinutes(5);
        List<Claim> claims = IntStream.range(0, 10_000)
                .mapToObj(i -> claim(key + i, Claim.Mode.QUEUE, lease, Claim.Keeping.RENEWED))
                .toList();
        List<Claim> held = Flux.fromIterable(claims)
                .flatMap(claim -> backend.claim(claim).thenReturn(claim), 64)
                .collectList()
                .block(Duration.ofMinutes(2));
        assertThat(Etcds.claims(etcd))
                .extracting(KeyValue::getLease)
                .hasSize(10_000)
                .containsOnly(Etcds.claims(etcd).get(0).getLease());
        for (int tick = 0; tick < 3; tick++) {
            // Longer than the slack that one answer leaves for later questions.
            Thread.sleep(1_600);
            long from = System.nanoTime();
            double before = server.metric(KEEP_ALIVES);
            double listsBefore = server.metric(LISTS);

            List<RenewalResult> answers = Flux.fromIterable(held)
                    .buffer(500)
                    .flatMap(backend::renew, 20)
                    .collectList()
                    .block(Etcds.LIMIT);

            assertThat(answers).hasSize(20).allMatch(answer -> answer.renewed().size() == 500);
            // One answer serves a second's questions, and a busy machine may take longer to put them.
            double many = 1 + TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - from);
            assertThat(server.metric(KEEP_ALIVES) - before).isBetween(1.0, many);
            assertThat(server.metric(LISTS) - listsBefore).isLessThanOrEqualTo(many);
        }
        Etcds.get(etcd.getLeaseClient().revoke(Etcds.claims(etcd).get(0).getLease()));
    }
}
