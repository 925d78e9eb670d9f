package io.github.reactivelock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.Client;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Answers to a claim that come when it has ended. */
class LateAnswerTest extends EtcdFixture {

    private final HeldUp held = new HeldUp();

    /** The release would find nothing to delete then, and a healthy hold be reported as lost. */
    @Test
    void anAnswerThatIsLateDoesNotTakeTheKeyThatTheReleaseIsAboutToDelete() throws InterruptedException {
        EtcdLockBackend backend = opened(EtcdLockBackend.connect(
                Client.builder().endpoints(server.uri()).interceptor(held),
                EtcdBackendOptions.defaults().withCommandTimeout(Duration.ofSeconds(30))));
        assertThat(Etcds.get(backend.ready().thenReturn(true))).isTrue();
        Claim claim = claim();
        held.puts = true;
        CompletableFuture<ClaimResult> late = backend.claim(claim).toFuture();
        Etcds.until("it is put", () -> !Etcds.claims(etcd).isEmpty() && held.count() > 0);
        held.puts = false;
        assertThat(Etcds.get(backend.claim(claim))).isInstanceOf(ClaimResult.Granted.class);

        held.deletions = true;
        CompletableFuture<Boolean> released = backend.release(claim).toFuture();
        Etcds.until("it is about to be deleted", () -> held.deletions() > 0);
        held.deletions = false;
        held.letGo();
        assertThat(late).failsWithin(Etcds.LIMIT);
        held.letDeletionsGo();

        assertThat(Etcds.get(released)).isTrue();
    }
}
