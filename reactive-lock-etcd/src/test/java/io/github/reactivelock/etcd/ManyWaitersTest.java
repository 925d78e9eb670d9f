package io.github.reactivelock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.Client;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.support.Departures;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A crowd of claims of one client on one lock: what leaves for the server at a time. */
class ManyWaitersTest extends EtcdFixture {

    private static final int MANY = 400;

    @Test
    void aCrowdLeavesALittleAtATimeAndARenewalBeforeIt() throws InterruptedException {
        HeldUp held = new HeldUp();
        EtcdLockBackend backend = opened(EtcdLockBackend.connect(
                Client.builder().interceptor(held).endpoints(server.uri()),
                EtcdBackendOptions.defaults().withCommandTimeout(Duration.ofMinutes(1))));
        Claim owner = claim();
        assertThat(granted(Etcds.get(backend.claim(owner)))).isPositive();
        held.unsentPuts = true;
        List<Claim> waiting = Stream.generate(this::claim).limit(MANY).toList();

        List<CompletableFuture<ClaimResult>> answers =
                waiting.stream().map(claim -> backend.claim(claim).toFuture()).toList();
        Etcds.until("puts have left", () -> held.unsent() >= Departures.MOST);
        assertThat(Etcds.get(backend.renew(List.of(owner))).renewed()).isEqualTo(Set.of(owner.id()));
        assertThat(held.unsent()).as("puts of %d claims", MANY).isEqualTo(Departures.MOST);
        assertThat(backend.holdsBack(waiting.get(MANY - 1))).isTrue();

        held.letUnsentGo();
        assertThat(answers.stream().map(Etcds::get)).allMatch(ClaimResult.Queued.class::isInstance);
        assertThat(backend.holdsBack(waiting.get(MANY - 1))).isFalse();
        List<CompletableFuture<Boolean>> released =
                waiting.stream().map(claim -> backend.release(claim).toFuture()).toList();
        assertThat(released.stream().map(Etcds::get)).hasSize(MANY).containsOnly(false);
        assertThat(Etcds.get(backend.release(owner))).isTrue();
    }
}
