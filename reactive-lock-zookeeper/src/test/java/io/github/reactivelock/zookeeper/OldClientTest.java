package io.github.reactivelock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.Share;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import org.apache.zookeeper.CreateMode;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Beside a client from before shares, which makes nodes and reads names as it did. */
class OldClientTest extends Fixture {

    /** The node that an old client waits for, by its rule: the one just before its own; null if it has the lock. */
    private static @Nullable String waitsFor(String own, List<String> names) {
        String last = null;
        for (String name : names) {
            if (number(name) - number(own) < 0 && (last == null || number(last) - number(name) < 0)) {
                last = name;
            }
        }
        return last;
    }

    private static int number(String name) {
        int colon = name.lastIndexOf(':');
        assertThat(colon).as("an old client counts it").isPositive();
        return Integer.parseInt(name, colon + 1, name.length(), 10);
    }

    private String oldClaim() throws Exception {
        String path = zookeeper
                .create()
                .withMode(CreateMode.EPHEMERAL_SEQUENTIAL)
                .forPath("/reactivelock/" + key + "/" + UUID.randomUUID() + ":", KeyLayout.bytes("s 30000 an old one"));
        return path.substring(path.lastIndexOf('/') + 1);
    }

    private List<String> names() {
        return ZooKeepers.children(zookeeper, "/reactivelock/" + key);
    }

    @Test
    void anOldClientWaitsUntilAllSharesBeforeItAreBackAndIsNotOvertaken() throws Exception {
        ZooKeeperLockBackend backend = backend();
        Queue<Signal> signals = listen(backend);
        Claim reader = claim(Share.ONE);
        Claim permit = claim(Share.permits(2, 5));
        granted(ZooKeepers.get(backend.claim(reader)));
        granted(ZooKeepers.get(backend.claim(permit)));

        String old = oldClaim();

        Claim late = claim(Share.ONE);
        assertThat(waitsFor(old, names())).startsWith(permit.id() + ":2.5:");
        assertThat(ZooKeepers.get(backend.claim(late))).isInstanceOf(ClaimResult.Queued.class);
        ZooKeepers.get(backend.release(permit));
        assertThat(waitsFor(old, names())).startsWith(reader.id() + ":1.");
        ZooKeepers.get(backend.release(reader));
        assertThat(waitsFor(old, names())).as("it has the lock").isNull();
        assertThat(isGranted(signals, late)).isFalse();
        assertThat(ZooKeepers.get(backend.inspect(key)).isHeldBy("an old one")).isTrue();

        ZooKeepers.delete(zookeeper, "/reactivelock/" + key + "/" + old);
        ZooKeepers.until("the late one is in", () -> isGranted(signals, late));
    }
}
