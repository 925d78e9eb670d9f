package io.github.reactivelock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.Client;
import io.etcd.jetcd.ClientBuilder;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Answers to a claim that come when it has ended. */
class LateAnswerTest extends EtcdFixture {

    private HeldUp held = new HeldUp();

    @BeforeEach
    void holdUp() {
        held = new HeldUp();
    }

    /** The release would find nothing to delete then, and a healthy hold be reported as lost. */
    @Test
    void aLateAnswerDoesNotTakeTheKeyThatTheReleaseDeletes() throws InterruptedException {
        EtcdLockBackend backend = backend(Client.builder().interceptor(held));
        Claim claim = claim();
        held.puts = true;
        CompletableFuture<ClaimResult> late = backend.claim(claim).toFuture();
        Etcds.until("it is put", () -> !Etcds.claims(etcd).isEmpty() && held.count() > 0);
        held.puts = false;
        assertThat(Etcds.get(backend.claim(claim))).isInstanceOf(ClaimResult.Granted.class);

        held.deletions = true;
        CompletableFuture<Boolean> released = backend.release(claim).toFuture();
        Etcds.until("it is about to be deleted", () -> held.unsent() > 0);
        held.deletions = false;
        held.letGo();
        assertThat(late).failsWithin(Etcds.LIMIT);
        held.letUnsentGo();

        assertThat(Etcds.get(released)).isTrue();
    }

    /**
     * It would be the next in the queue, of nobody, until a list of its lease's keys finds it. Only through a client
     * of the application is it put though another came.
     */
    @Test
    void aTryForATakenLockLeavesNoKey() throws InterruptedException {
        HeldUp looking = new HeldUp();
        Client users = Client.builder()
                .endpoints(server.uri())
                .interceptor(looking, held)
                .build();
        EtcdLockBackend backend = opened(EtcdLockBackend.using(users, PATIENT));
        EtcdLockBackend another = backend();
        Claim trying = claim(key, Claim.Mode.TRY, LEASE, Claim.Keeping.RENEWED);
        Claim quicker = claim();
        assertThat(Etcds.get(backend.inspect(key)).isFree())
                .as("the first read of a client, which may be asked twice")
                .isTrue();
        looking.looks = true;
        held.puts = true;
        CompletableFuture<ClaimResult> late = backend.claim(trying).toFuture();
        Etcds.until("it has looked", () -> looking.count() == 2); // an answer is a message and an end
        assertThat(Etcds.get(another.claim(quicker))).isInstanceOf(ClaimResult.Granted.class);
        looking.letGo();
        Etcds.until("it is put", () -> Etcds.claims(etcd).size() == 2 && held.count() > 0);
        held.puts = false;

        assertThat(Etcds.get(backend.claim(trying))).isInstanceOf(ClaimResult.Busy.class);

        assertThat(Etcds.claims(etcd)).hasSize(1);
        held.letGo();
        assertThat(late).failsWithin(Etcds.LIMIT);
        assertThat(Etcds.get(another.release(quicker))).isTrue();
        Etcds.get(backend.close().thenReturn(true));
        users.close();
    }

    /** Whoever came behind it does not keep it out. */
    @Test
    void aTryThatIsAskedAboutAgainIsInIfItsKeyWasPut() throws InterruptedException {
        EtcdLockBackend backend = backend(Client.builder().interceptor(held));
        EtcdLockBackend another = backend();
        Claim trying = permits(1, Claim.Mode.TRY);
        Claim behind = permits(2, Claim.Mode.QUEUE);
        held.puts = true;
        CompletableFuture<ClaimResult> late = backend.claim(trying).toFuture();
        Etcds.until("it is put", () -> !Etcds.claims(etcd).isEmpty() && held.count() > 0);
        held.puts = false;
        assertThat(Etcds.get(another.claim(behind))).isInstanceOf(ClaimResult.Queued.class);

        assertThat(Etcds.get(backend.claim(trying))).isInstanceOf(ClaimResult.Granted.class);

        held.letGo();
        assertThat(late).succeedsWithin(Etcds.LIMIT);
        assertThat(Etcds.get(backend.release(trying))).isTrue();
        Etcds.until("the one behind it is in", () -> Etcds.get(another.claim(behind)) instanceof ClaimResult.Granted);
        assertThat(Etcds.get(another.release(behind))).isTrue();
    }

    private Claim permits(int units, Claim.Mode mode) {
        return new Claim(
                key, UUID.randomUUID().toString(), "me", LEASE, mode, Claim.Keeping.RENEWED, Share.permits(units, 2));
    }

    private EtcdLockBackend backend(ClientBuilder client) {
        EtcdLockBackend backend = opened(EtcdLockBackend.connect(
                client.endpoints(server.uri()),
                EtcdBackendOptions.defaults().withCommandTimeout(Duration.ofSeconds(30))));
        assertThat(Etcds.get(backend.ready().thenReturn(true))).isTrue();
        return backend;
    }
}
