package io.github.reactivelock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.Client;
import io.etcd.jetcd.KeyValue;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Moments at which a claim for a share could miss that it is in. */
class SharesTest extends EtcdFixture {

    private final Share one = Share.permits(1, 2);
    private final Share two = Share.permits(2, 2);
    private HeldUp held = new HeldUp();
    private EtcdLockBackend other;
    private EtcdLockBackend backend;
    private Queue<Signal> signals;

    @BeforeEach
    void connect() throws InterruptedException {
        held = new HeldUp();
        other = backend();
        backend = opened(EtcdLockBackend.connect(
                Client.builder().endpoints(server.uri()).interceptor(held),
                EtcdBackendOptions.defaults().withCommandTimeout(Duration.ofSeconds(30))));
        signals = listen(backend);
    }

    private Claim claim(Share share) {
        return claim(share, LEASE, Claim.Keeping.RENEWED);
    }

    private Claim claim(Share share, Duration lease, Claim.Keeping keeping) {
        return new Claim(key, UUID.randomUUID().toString(), "me", lease, Claim.Mode.QUEUE, keeping, share);
    }

    private static void isIn(EtcdLockBackend by, Claim claim) {
        assertThat(Etcds.get(by.claim(claim))).isInstanceOf(ClaimResult.Granted.class);
    }

    private static void queued(EtcdLockBackend by, Claim claim) {
        assertThat(Etcds.get(by.claim(claim))).isInstanceOf(ClaimResult.Queued.class);
    }

    private void untilPushed(Claim claim) throws InterruptedException {
        Etcds.until(
                "it is pushed that the claim is in",
                () -> signals.stream()
                        .anyMatch(signal -> signal instanceof Signal.Grant grant
                                && grant.claimId().equals(claim.id())));
    }

    @Test
    void manyHoldersAreCountedAndTheNewestShown() {
        for (int reader = 0; reader < 120; reader++) {
            isIn(other, claim(Share.ONE));
        }
        queued(other, claim(Share.WHOLE));

        LockInfo.Held info = Etcds.get(other.inspect(key)).held().orElseThrow();

        LockInfo.Shares shares = Objects.requireNonNull(info.shares());
        assertThat(info.waiters()).isEqualTo(1);
        assertThat(shares.holders()).isEqualTo(120);
        assertThat(shares.units()).isEqualTo(120);
        assertThat(shares.first()).hasSize(100);
        assertThat(shares.first().get(0).fencingToken()).isEqualTo(info.fencingToken());
    }

    private void leavesBeforeTheWatch(Claim leaving, Claim waiting) throws InterruptedException {
        isIn(other, leaving);
        held.watches = true;
        queued(backend, waiting);
        Etcds.until("a watch is about to begin", () -> held.count() == 1);

        assertThat(Etcds.get(other.release(leaving))).isTrue();
        held.letGo();

        untilPushed(waiting);
    }

    @Test
    void aReaderIsInWhenTheWriterLeftBetweenTheReadAndTheWatch() throws InterruptedException {
        leavesBeforeTheWatch(claim(Share.WHOLE), claim(Share.ONE));
    }

    @Test
    void permitsFreedBetweenReadAndWatchLetAClaimIn() throws InterruptedException {
        leavesBeforeTheWatch(claim(two), claim(one));
    }

    @Test
    void aLastReaderThatLeavesBetweenReadAndWatchLetsAWriterIn() throws InterruptedException {
        leavesBeforeTheWatch(claim(Share.ONE), claim(Share.WHOLE));
    }

    @Test
    void permitsOfALeaseThatEndedLetTheNextIn() throws InterruptedException {
        Claim ending = claim(two, LEASE, Claim.Keeping.ONCE);
        isIn(other, ending);
        Claim waiting = claim(one);
        queued(backend, waiting);

        endTheLeaseOf(ending);
        untilPushed(waiting);
    }

    @Test
    void aWaitingWriterWhoseLeaseEndedLetsTheReadersBehindItIn() throws InterruptedException {
        isIn(other, claim(Share.ONE));
        Claim ending = claim(Share.WHOLE, LEASE, Claim.Keeping.ONCE);
        queued(other, ending);
        Claim waiting = claim(Share.ONE);
        queued(backend, waiting);

        endTheLeaseOf(ending);
        untilPushed(waiting);
    }

    /** As the server does when its time is over. */
    private void endTheLeaseOf(Claim ending) {
        KeyValue its = line().stream()
                .filter(kv -> ClaimValue.of(kv).claimId().equals(ending.id()))
                .findAny()
                .orElseThrow();
        Etcds.get(etcd.getLeaseClient().revoke(its.getLease()));
    }

    /** Its answer says that it waits, and when the line was read that shows it to be in, this was not known to wait. */
    @Test
    void aClaimIsGrantedThoughItsPutIsAnsweredAfterTheRead() throws InterruptedException {
        Claim leaving = claim(two);
        isIn(other, leaving);
        Claim first = claim(one);
        queued(backend, first);
        CompletableFuture<ClaimResult> late = putUnanswered(claim(one));
        queued(backend, claim(two));

        assertThat(Etcds.get(other.release(leaving))).isTrue();
        untilPushed(first);
        held.letGo();

        assertThat(Etcds.get(late)).isInstanceOf(ClaimResult.Queued.class);
        untilPushed(lateClaim);
    }

    @Test
    void aReaderIsGrantedThoughALaterReadersPutIsAnsweredFirst() throws InterruptedException {
        Claim writing = claim(Share.WHOLE);
        isIn(other, writing);
        CompletableFuture<ClaimResult> late = putUnanswered(claim(Share.ONE));
        Claim later = claim(Share.WHOLE);
        queued(other, later);
        Claim behind = claim(Share.ONE);
        int reads = held.reads.get();
        queued(backend, behind);
        Etcds.until("the later writer is watched", () -> held.reads.get() > reads);

        assertThat(Etcds.get(other.release(writing))).isTrue();
        held.letGo();

        assertThat(Etcds.get(late)).isInstanceOf(ClaimResult.Queued.class);
        untilPushed(lateClaim);
        assertThat(Etcds.get(other.release(later))).isFalse();
        untilPushed(behind);
    }

    private Claim lateClaim = new Claim("none", "none", "me", LEASE, Claim.Mode.QUEUE);

    private CompletableFuture<ClaimResult> putUnanswered(Claim claim) throws InterruptedException {
        lateClaim = claim;
        int before = line().size();
        held.puts = true;
        CompletableFuture<ClaimResult> answer = backend.claim(claim).toFuture();
        Etcds.until("it is put", () -> line().size() == before + 1 && held.count() > 0);
        held.puts = false;
        return answer;
    }

    private List<KeyValue> line() {
        return Etcds.claims(etcd).stream()
                .filter(claim -> KeyLayout.key(claim.getKey()).equals(key))
                .toList();
    }

    @Test
    void aReaderGrantsNoWriterOfItsClientWhileAnotherIsIn() throws InterruptedException {
        Claim far = claim(Share.ONE);
        Claim near = claim(Share.ONE);
        Claim writing = claim(Share.WHOLE);
        isIn(other, far);
        isIn(backend, near);
        queued(backend, writing);

        assertThat(Etcds.get(backend.release(near))).isTrue();

        assertThat(signals).noneMatch(Signal.Grant.class::isInstance);
        queued(backend, writing);
        assertThat(Etcds.get(other.release(far))).isTrue();
        untilPushed(writing);
    }

    @Test
    void aReleaseOfAForgottenShareSaysWhetherItWasIn() {
        Claim first = claim(one);
        Claim second = claim(one);
        Claim waiting = claim(one);
        isIn(backend, first);
        isIn(backend, second);
        queued(backend, waiting);

        assertThat(Etcds.get(other.release(waiting))).isFalse();
        assertThat(Etcds.get(other.release(second))).isTrue();
        assertThat(Etcds.get(other.release(second))).isFalse();
        assertThat(Etcds.get(backend.release(first))).isTrue();
    }

    @Test
    void thoseOfAClientThatWaitForPermitsOfALockHaveOneWatch() throws InterruptedException {
        Claim all = claim(two);
        isIn(other, all);
        List<Claim> waiting = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            waiting.add(claim(one));
            queued(backend, waiting.get(i));
        }

        assertThat(Etcds.get(other.release(all))).isTrue();
        for (Claim next : waiting) {
            untilPushed(next);
            assertThat(Etcds.get(backend.release(next))).isTrue();
        }

        assertThat(held.watched).containsExactly("reactivelock/" + key + "/");
    }

    @Test
    void readersBehindAWriterWatchNothingButTheWriter() throws InterruptedException {
        Claim writing = claim(Share.WHOLE);
        isIn(other, writing);
        String writersName = line().get(0).getKey().toString();
        List<Claim> readers = List.of(claim(Share.ONE), claim(Share.ONE), claim(Share.ONE));
        readers.forEach(reader -> queued(backend, reader));

        assertThat(Etcds.get(other.release(writing))).isTrue();
        for (Claim reader : readers) {
            untilPushed(reader);
        }

        assertThat(held.watched).containsExactly(writersName);
    }
}
