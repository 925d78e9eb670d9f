package io.github.reactivelock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.PutOption;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.Share;
import io.github.reactivelock.testservers.TcpProxy;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** How the owner of a lock is called back whose client may keep it. */
class RecallsTest extends EtcdFixture {

    private Claim claim(Claim.Mode mode, Share share, boolean recallable) {
        return new Claim(
                key, UUID.randomUUID().toString(), "me", LEASE, mode, Claim.Keeping.RENEWED, share, recallable);
    }

    private Claim recallable() {
        return claim(Claim.Mode.QUEUE, Share.WHOLE, true);
    }

    private Claim tries() {
        return claim(Claim.Mode.TRY, Share.WHOLE, false);
    }

    private static void isQueued(EtcdLockBackend backend, Claim claim) {
        assertThat(Etcds.get(backend.claim(claim))).isInstanceOf(ClaimResult.Queued.class);
    }

    private static void isBusy(EtcdLockBackend backend, Claim claim) {
        assertThat(Etcds.get(backend.claim(claim))).isInstanceOf(ClaimResult.Busy.class);
    }

    private static void untilCalledBack(Queue<Signal> signals, Claim claim, int times) {
        Etcds.until(times + " recalls came", () -> count(signals, claim) == times);
    }

    private static long count(Queue<Signal> signals, Claim claim) {
        return signals.stream().filter(new Signal.Recall(claim.id())::equals).count();
    }

    private long revision() {
        return Etcds.get(etcd.getKVClient().get(ByteSequence.from(new byte[] {'x'})))
                .getHeader()
                .getRevision();
    }

    private boolean isShownAsRecallable(EtcdLockBackend backend) {
        return ((LockInfo.Held) Etcds.get(backend.inspect(key))).recallable();
    }

    /** A client whose lease is there and marked, so that it changes nothing at etcd but by its claims. */
    private EtcdLockBackend ready() throws InterruptedException {
        EtcdLockBackend backend = backend();
        Claim first = claim("first" + UUID.randomUUID(), Claim.Mode.QUEUE, LEASE, Claim.Keeping.RENEWED);
        assertThat(granted(Etcds.get(backend.claim(first)))).isPositive();
        Etcds.untilMarked(etcd);
        assertThat(Etcds.get(backend.release(first))).isTrue();
        return backend;
    }

    @Test
    void onlyTheNameOfAClaimThatCanBeCalledBackSaysSo() {
        EtcdLockBackend backend = backend();
        Claim plain = claim();
        assertThat(granted(Etcds.get(backend.claim(plain)))).isPositive();
        assertThat(Etcds.claims(etcd).get(0).getKey().toString()).endsWith(".0.0");
        assertThat(isShownAsRecallable(backend)).isFalse();
        assertThat(Etcds.get(backend.release(plain))).isTrue();

        assertThat(granted(Etcds.get(backend.claim(recallable())))).isPositive();

        assertThat(Etcds.claims(etcd).get(0).getKey().toString()).endsWith(".0.0.r");
        assertThat(isShownAsRecallable(backend)).isTrue();
    }

    @Test
    void whoStandsFurtherBackWritesNothingButItsKey() throws InterruptedException {
        EtcdLockBackend owning = ready();
        EtcdLockBackend waiting = ready();
        EtcdLockBackend last = ready();
        Queue<Signal> signals = listen(owning);
        Claim owner = recallable();
        Claim second = recallable();
        assertThat(granted(Etcds.get(owning.claim(owner)))).isPositive();
        isQueued(waiting, second);
        untilCalledBack(signals, owner, 1);
        long before = revision();

        isQueued(last, claim());
        isBusy(last, tries());

        assertThat(revision()).isEqualTo(before + 1);
        assertThat(Etcds.get(waiting.release(second))).isFalse();
        // It stands directly behind the owner now.
        untilCalledBack(signals, owner, 2);
    }

    @Test
    void behindAnOwnerThatIsNotRecallableNothingIsWrittenButTheKey() throws InterruptedException {
        EtcdLockBackend owning = ready();
        EtcdLockBackend waiting = ready();
        assertThat(granted(Etcds.get(owning.claim(claim())))).isPositive();
        long before = revision();

        isBusy(waiting, tries());
        isQueued(waiting, claim());
        Etcds.get(waiting.recall(key).thenReturn(true));

        assertThat(revision()).isEqualTo(before + 1);
    }

    @Test
    void aClaimAndATryForAShareCallTheOwnerBack() throws InterruptedException {
        EtcdLockBackend owning = backend();
        EtcdLockBackend sharing = backend();
        Queue<Signal> signals = listen(owning);
        Claim owner = recallable();
        Claim tries = claim(Claim.Mode.TRY, Share.ONE, false);
        assertThat(granted(Etcds.get(owning.claim(owner)))).isPositive();

        isQueued(sharing, tries);
        untilCalledBack(signals, owner, 1);
        assertThat(Etcds.get(sharing.release(tries))).isFalse();
        isQueued(sharing, claim(Claim.Mode.QUEUE, Share.permits(2, 5), false));
        untilCalledBack(signals, owner, 2);
        isBusy(sharing, claim(Claim.Mode.TRY, Share.ONE, false));
    }

    @Test
    void aTryThatWaitsIsGrantedWhenTheOwnerLeaves() throws InterruptedException {
        EtcdLockBackend owning = backend();
        EtcdLockBackend trying = backend();
        Queue<Signal> signals = listen(trying);
        Claim owner = recallable();
        Claim tries = tries();
        long token = granted(Etcds.get(owning.claim(owner)));
        isQueued(trying, tries);

        assertThat(Etcds.get(owning.release(owner))).isTrue();

        Etcds.until(
                "it is granted",
                () -> signals.stream()
                        .anyMatch(signal -> signal instanceof Signal.Grant grant
                                && grant.claimId().equals(tries.id())
                                && grant.fencingToken() > token));
    }

    @Test
    void aLockThatStaysTakenBeyondItsHoldIsNotCalledBack() {
        EtcdLockBackend owning = backend();
        EtcdLockBackend other = backend();
        Claim owner = recallable();
        assertThat(granted(Etcds.get(owning.claim(owner)))).isPositive();
        Claim kept = claim(key, Claim.Mode.TRY, LEASE, Claim.Keeping.ONCE);

        assertThat(Etcds.get(owning.keep(owner, kept))).isTrue();

        assertThat(isShownAsRecallable(other)).isFalse();
        isBusy(other, tries());
        assertThat(Etcds.get(other.release(kept))).isTrue();
    }

    @Test
    void aRecallBeforeThePutsAnswerIsHeardAndAnOldOneIsNot() throws InterruptedException {
        HeldUp held = new HeldUp();
        EtcdLockBackend owning = opened(
                EtcdLockBackend.connect(Client.builder().endpoints(server.uri()).interceptor(held), PATIENT));
        EtcdLockBackend other = backend();
        Queue<Signal> signals = listen(owning);
        Claim before = recallable();
        assertThat(granted(Etcds.get(owning.claim(before)))).isPositive();
        KeyValue old = Etcds.claims(etcd).get(0);
        assertThat(Etcds.get(owning.release(before))).isTrue();
        Claim owner = recallable();
        held.puts = true;
        CompletableFuture<ClaimResult> answer = owning.claim(owner).toFuture();
        Etcds.until("its key is there", () -> !Etcds.claims(etcd).isEmpty());

        Claim next = claim();
        isQueued(other, next);
        untilCalledBack(signals, owner, 1);
        held.letGo();
        assertThat(granted(Etcds.get(answer))).isPositive();
        forge(old);
        assertThat(Etcds.get(other.release(next))).isFalse();
        isQueued(other, claim());

        untilCalledBack(signals, owner, 2);
        assertThat(count(signals, before)).isZero();
    }

    /** As a recall that was sent for a claim which had the same place. */
    private void forge(KeyValue old) {
        ByteSequence recalls = KeyLayout.recalls(new KeyLayout("reactivelock").notice(KeyLayout.session(old.getKey())));
        String which = old.getCreateRevision() + " " + KeyLayout.tail(old.getKey());
        Etcds.get(etcd.getKVClient()
                .put(
                        recalls,
                        KeyLayout.bytes(which),
                        PutOption.builder()
                                .withLeaseId(Etcds.oldest(etcd).getLease())
                                .build()));
    }

    @Test
    void nothingIsLeftOfARecallWhenTheOwnersClientIsClosed() throws InterruptedException {
        EtcdLockBackend owning = backend();
        EtcdLockBackend other = backend();
        Queue<Signal> signals = listen(owning);
        Claim owner = recallable();
        assertThat(granted(Etcds.get(owning.claim(owner)))).isPositive();
        isQueued(other, claim());
        untilCalledBack(signals, owner, 1);

        Etcds.get(owning.close().thenReturn(true));
        Etcds.get(other.close().thenReturn(true));

        GetOption all = GetOption.builder().isPrefix(true).build();
        assertThat(Etcds.get(etcd.getKVClient().get(KeyLayout.bytes("reactivelock/!"), all))
                        .getKvs())
                .extracting(kv -> kv.getKey().toString())
                .noneMatch(name -> name.contains("!recall"));
    }

    /** What is called back meanwhile would not be heard, so a client must not keep what it has. */
    @Test
    void signalsAreInterruptedWhenAClientThatMayKeepLocksIsCutOff() throws InterruptedException {
        try (TcpProxy proxy = TcpProxy.to(server.port())) {
            EtcdLockBackend owning = opened(patient("http://127.0.0.1:" + proxy.port()));
            Etcds.get(owning.ready().thenReturn(true));
            CompletableFuture<Signal> connected = new CompletableFuture<>();
            CompletableFuture<Void> signals =
                    owning.signals().doOnNext(connected::complete).then().toFuture();
            assertThat(Etcds.get(connected)).isEqualTo(new Signal.Reconnected());
            Claim owner = recallable();
            assertThat(granted(Etcds.get(owning.claim(owner)))).isPositive();

            proxy.cut();

            Etcds.until("signals are interrupted", signals::isCompletedExceptionally);
            proxy.mend();
            assertThat(Etcds.get(owning.release(owner))).isTrue();
        }
    }
}
