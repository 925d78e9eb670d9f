package io.github.reactivelock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.state.Share;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A claim that only tries is decided in one step: what is refused leaves no trace that others could see. */
class TriesTest extends EtcdFixture {

    private HeldUp held = new HeldUp();
    private EtcdLockBackend other;
    private EtcdLockBackend trying;

    @BeforeEach
    void connect() {
        held = new HeldUp();
        other = backend();
        trying = opened(
                EtcdLockBackend.connect(Client.builder().endpoints(server.uri()).interceptor(held), PATIENT));
    }

    private Claim claim(Claim.Mode mode, Share share) {
        return new Claim(key, UUID.randomUUID().toString(), "me", LEASE, mode, Claim.Keeping.RENEWED, share);
    }

    private long revision() {
        return Etcds.get(etcd.getKVClient().get(ByteSequence.from(new byte[] {'x'})))
                .getHeader()
                .getRevision();
    }

    /** It has seen room, and is about to put its key. */
    private CompletableFuture<ClaimResult> tryUntilItsPut(Claim claim) throws InterruptedException {
        // The first claim of a backend has a lease marked, which is a change too.
        Claim before = claim(Claim.Mode.QUEUE, Share.WHOLE);
        assertThat(Etcds.get(trying.claim(before))).isInstanceOf(ClaimResult.Granted.class);
        Etcds.untilMarked(etcd);
        assertThat(Etcds.get(trying.release(before))).isTrue();
        held.unsentPuts = true;
        CompletableFuture<ClaimResult> answer = trying.claim(claim).toFuture();
        Etcds.until("the key is about to be put", () -> held.unsent() == 1);
        return answer;
    }

    private Claim granted(Claim claim) {
        assertThat(Etcds.get(other.claim(claim))).isInstanceOf(ClaimResult.Granted.class);
        return claim;
    }

    private void isRefusedUnseen(Share share, Share ofTheOther) throws InterruptedException {
        CompletableFuture<ClaimResult> answer = tryUntilItsPut(claim(Claim.Mode.TRY, share));
        Claim owner = granted(claim(Claim.Mode.QUEUE, ofTheOther));
        Etcds.untilMarked(etcd);
        long before = revision();

        held.letUnsentGo();

        assertThat(Etcds.get(answer)).isEqualTo(new ClaimResult.Busy());
        assertThat(revision()).as("no change of etcd was made").isEqualTo(before);
        assertThat(Etcds.get(other.release(owner))).isTrue();
    }

    @Test
    void oneThatIsRefusedBecauseAnotherCameIsNeverThere() throws InterruptedException {
        isRefusedUnseen(Share.WHOLE, Share.WHOLE);
        isRefusedUnseen(Share.ONE, Share.WHOLE);
        isRefusedUnseen(Share.WHOLE, Share.ONE);
        isRefusedUnseen(Share.permits(2, 2), Share.permits(1, 2));
    }

    @Test
    void oneBeforeWhichAnotherCameAndLeftIsGranted() throws InterruptedException {
        CompletableFuture<ClaimResult> answer = tryUntilItsPut(claim(Claim.Mode.TRY, Share.WHOLE));
        assertThat(Etcds.get(other.release(granted(claim(Claim.Mode.QUEUE, Share.WHOLE)))))
                .isTrue();

        held.letUnsentGo();

        assertThat(Etcds.get(answer)).isInstanceOf(ClaimResult.Granted.class);
    }

    @Test
    void oneForAShareBesideWhichAnotherCameIsGrantedIfBothFit() throws InterruptedException {
        Claim tries = claim(Claim.Mode.TRY, Share.permits(1, 2));
        CompletableFuture<ClaimResult> answer = tryUntilItsPut(tries);
        Claim beside = granted(claim(Claim.Mode.QUEUE, Share.permits(1, 2)));

        held.letUnsentGo();

        assertThat(Etcds.get(answer)).isInstanceOf(ClaimResult.Granted.class);
        assertThat(Etcds.get(other.release(beside))).isTrue();
    }

    @Test
    void oneOfManyTriesAtOnceGetsAFreeLockEachTime() {
        List<EtcdLockBackend> rivals = List.of(other, trying, backend());
        for (int round = 0; round < 100; round++) {
            chooseAKeyOfItsOwn();
            List<Claim> claims = Stream.generate(() -> claim(Claim.Mode.TRY, Share.WHOLE))
                    .limit(rivals.size())
                    .toList();
            List<CompletableFuture<ClaimResult>> answers = Stream.of(0, 1, 2)
                    .map(i -> rivals.get(i).claim(claims.get(i)).toFuture())
                    .toList();
            assertThat(answers.stream().map(Etcds::get).filter(ClaimResult.Granted.class::isInstance))
                    .hasSize(1);
            for (int i = 0; i < rivals.size(); i++) {
                Boolean unused = Etcds.get(rivals.get(i).release(claims.get(i)));
            }
        }
    }
}
