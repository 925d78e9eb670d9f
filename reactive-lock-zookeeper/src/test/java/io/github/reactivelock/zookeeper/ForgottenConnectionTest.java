package io.github.reactivelock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.state.LockInfo;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A connection that dies without a word is left, long before ZooKeeper's client gives it up: new ones work. */
class ForgottenConnectionTest extends ProxiedFixture {

    /** ZooKeeper's client would wait for forty seconds, and a hold counts for thirty. */
    private static final ZooKeeperBackendOptions OPTIONS = patient().withSessionTimeout(Duration.ofSeconds(60));

    /** A waiter asks by itself after a third of the lease, far too late to help. */
    private static final LockOptions LONG =
            LockOptions.defaults().withLease(Duration.ofMinutes(30)).withWaitTimeout(Duration.ofSeconds(28));

    private void survives(String servers, Runnable fault) throws InterruptedException {
        LockClient near = client();
        LockClient far = client(ZooKeeperLockBackend.connect(servers, OPTIONS));
        LockHandle held = ZooKeepers.get(far.acquire("held" + key));
        LockHandle before = ZooKeepers.get(near.acquire(key));
        CompletableFuture<LockHandle> waiting = far.with(LONG).acquire(key).toFuture();
        ZooKeepers.until(
                "it waits",
                () -> ZooKeepers.get(near.inspect(key)) instanceof LockInfo.Held seen && seen.waiters() == 1);

        fault.run();
        ZooKeepers.get(before.release());

        ZooKeepers.get(ZooKeepers.get(waiting).release());
        ZooKeepers.get(ZooKeepers.get(far.acquire("new" + key)).release());
        ZooKeepers.get(held.renew().thenReturn(true));
        assertThat(held.isHeld()).isTrue();
        ZooKeepers.get(held.release());
    }

    @Test
    void aHolderKeepsItsLockAndAWaiterIsServed() throws InterruptedException {
        survives(proxied(), proxy::forget);
    }
}
