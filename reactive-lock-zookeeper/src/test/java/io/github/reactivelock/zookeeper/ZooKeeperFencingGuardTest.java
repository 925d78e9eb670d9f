package io.github.reactivelock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.state.StaleTokenException;
import io.github.reactivelock.testkit.OddKeys;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.apache.zookeeper.KeeperException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class ZooKeeperFencingGuardTest extends Fixture {

    private String target = "";
    private ZooKeeperFencingGuard guard;

    @BeforeEach
    void guardAnOrder() throws Exception {
        target = "/order" + UUID.randomUUID();
        zookeeper.create().forPath(target, new byte[0]);
        guard = backend().fencingGuard();
    }

    private Mono<?> write(LockHandle held, String value) {
        return write(held, target, value);
    }

    private Mono<?> write(LockHandle held, String path, String value) {
        try {
            return guard.write(
                    held.key(),
                    held.fencingToken(),
                    zookeeper.transactionOp().setData().forPath(path, KeyLayout.bytes(value)));
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private String written() throws Exception {
        return new String(zookeeper.getData().forPath(target), StandardCharsets.UTF_8);
    }

    private static void assertRefused(Mono<?> write, LockHandle held, long newest) {
        assertThat(ZooKeepers.error(write)).isInstanceOfSatisfying(StaleTokenException.class, refused -> {
            assertThat(refused.fencingToken()).isEqualTo(held.fencingToken());
            assertThat(refused.newestSeen()).isEqualTo(newest);
        });
    }

    @Test
    void aWriteGoesThroughWhileTheLockIsHeld() throws Exception {
        LockHandle held = ZooKeepers.get(client().acquire(key));

        ZooKeepers.get(write(held, "paid"));
        ZooKeepers.get(write(held, "sent"));

        assertThat(written()).isEqualTo("sent");
    }

    @Test
    void aWriteThatComesAfterTheReleaseIsRefused() throws Exception {
        LockHandle held = ZooKeepers.get(client().acquire(key));
        ZooKeepers.get(held.release());

        assertRefused(write(held, "late"), held, held.fencingToken() + 4096);
        assertThat(written()).isEmpty();
    }

    @Test
    void aWriteOfAnEarlierHolderIsRefusedWhileAnotherHoldsTheLock() throws Exception {
        LockClient client = client();
        LockHandle earlier = ZooKeepers.get(client.acquire(key));
        ZooKeepers.get(client.forceRelease(key));
        LockHandle later = ZooKeepers.get(client().acquire(key));
        ZooKeepers.get(write(later, "by the later one"));

        assertRefused(write(earlier, "late"), earlier, later.fencingToken());
        assertThat(written()).isEqualTo("by the later one");
    }

    @Test
    void thoseWhoShareWriteBesideOneAnotherAndEachOnlyWhileItsShareLasts() throws Exception {
        List<LockHandle> readers = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            readers.add(ZooKeepers.get(client().shared().acquire(key)));
        }
        for (LockHandle reader : readers) {
            ZooKeepers.get(write(reader, "by " + reader.fencingToken()));
            assertThat(written()).isEqualTo("by " + reader.fencingToken());
        }
        LockHandle gone = readers.remove(1);
        ZooKeepers.get(gone.release());

        assertRefused(write(gone, "late"), gone, readers.get(3).fencingToken());
        for (LockHandle reader : readers) {
            ZooKeepers.get(write(reader, "again"));
            ZooKeepers.get(reader.release());
        }
        LockHandle writer = ZooKeepers.get(client().acquire(key));
        ZooKeepers.get(write(writer, "by the writer"));

        assertRefused(write(readers.get(3), "late"), readers.get(3), writer.fencingToken());
        assertThat(written()).isEqualTo("by the writer");
    }

    @Test
    void aChangeThatFailsSaysWhyAndNothingIsWritten() {
        LockHandle held = ZooKeepers.get(client().acquire(key));

        assertThat(ZooKeepers.error(write(held, "/missing", "paid")))
                .hasRootCauseInstanceOf(KeeperException.NoNodeException.class);
    }

    @Test
    void oddKeysAreToldApart() {
        LockClient client = client();
        for (String odd : OddKeys.make((before, after) -> before + key + after)) {
            LockHandle held = ZooKeepers.get(client.acquire(odd));
            ZooKeepers.get(write(held, odd));
            ZooKeepers.get(held.release());
            LockHandle next = ZooKeepers.get(client.acquire(odd));

            assertRefused(write(held, "late"), held, next.fencingToken());
            ZooKeepers.get(write(next, odd));
        }
    }

    @Test
    void whatIsNoTokenIsRefused() {
        assertThatThrownBy(() -> guard.write(key, 17))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("17");
    }
}
