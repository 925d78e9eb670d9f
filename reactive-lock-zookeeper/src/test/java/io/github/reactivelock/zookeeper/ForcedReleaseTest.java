package io.github.reactivelock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LossReason;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A forced release whose answer was lost, and what its caller is told. */
class ForcedReleaseTest extends ProxiedFixture {

    @Test
    void whetherItRemovedTheHoldIsNotKnownAndTheHolderIsTold() throws InterruptedException {
        GatedClient client = new GatedClient(proxied());
        ZooKeeperLockBackend operator = opened(new ZooKeeperLockBackend(client, patient()));
        ZooKeeperLockBackend holder = backend();
        Queue<Signal> signals = listen(holder);
        Claim held = claim();
        long token = granted(ZooKeepers.get(holder.claim(held)));
        assertThat(ZooKeepers.get(operator.inspect(key)).isFree()).isFalse();
        client.beforeDeletion(proxy::dropReplies);

        CompletableFuture<Boolean> ended = operator.forceRelease(key, token).toFuture();
        ZooKeepers.until("it is carried out", () -> ZooKeepers.claims(zookeeper).isEmpty());
        proxy.mend();

        assertThat(ended)
                .failsWithin(ZooKeepers.LIMIT)
                .withThrowableThat()
                .withMessageContaining("it is not known whether '" + key + "' was still held");
        assertThat(client.asked("delete")).isGreaterThan(1);
        ZooKeepers.until(
                "the holder is told", () -> signals.contains(new Signal.Suspect(held.id(), LossReason.FORCED)));
    }
}
