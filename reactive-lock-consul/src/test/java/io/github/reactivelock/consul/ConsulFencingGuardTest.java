package io.github.reactivelock.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.consul.ConsulFencingGuard.Change;
import io.github.reactivelock.state.StaleTokenException;
import java.nio.charset.StandardCharsets;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ConsulFencingGuardTest extends Fixture {

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private String order() {
        return server.ask("GET", "kv/order?raw", "");
    }

    @AfterEach
    void forget() {
        server.ask("DELETE", "kv/order", "");
    }

    @Test
    void aHolderWritesAndAFormerOneIsRefusedWithTheNewestToken() {
        ConsulLockBackend backend = backend();
        ConsulFencingGuard guard = backend.fencingGuard();
        LockClient client = client();
        LockHandle former = Consuls.get(client.acquire(key));
        assertThat(guard.write(key, former.fencingToken(), Change.set("order", bytes("one")))
                        .block(Consuls.LIMIT))
                .isNull();
        Consuls.done(former.release());
        LockHandle holder = Consuls.get(client().acquire(key));

        assertThat(Consuls.error(guard.write(key, former.fencingToken(), Change.set("order", bytes("two")))))
                .isInstanceOfSatisfying(StaleTokenException.class, stale -> {
                    assertThat(stale.fencingToken()).isEqualTo(former.fencingToken());
                    assertThat(stale.newestSeen()).isEqualTo(holder.fencingToken());
                });
        assertThat(order()).isEqualTo("one");
        Consuls.done(guard.write(key, holder.fencingToken(), Change.set("order", bytes("three"))));
        assertThat(order()).isEqualTo("three");
        Consuls.done(holder.release());
        assertThat(Consuls.error(guard.write(key, holder.fencingToken(), Change.delete("order"))))
                .isInstanceOfSatisfying(
                        StaleTokenException.class,
                        stale -> assertThat(stale.newestSeen()).isGreaterThan(holder.fencingToken()));
    }

    @Test
    void allWhoShareALockWrite() {
        ConsulFencingGuard guard = backend().fencingGuard();
        LockHandle one = Consuls.get(client().shared().acquire(key));
        LockHandle two = Consuls.get(client().shared().acquire(key));

        Consuls.done(guard.write(key, one.fencingToken(), Change.set("order", bytes("one"))));
        Consuls.done(guard.write(key, two.fencingToken(), Change.set("order", bytes("two"))));

        assertThat(order()).isEqualTo("two");
        Consuls.done(one.release());
        Consuls.done(two.release());
    }

    @Test
    void aChangeThatFailsIsNotTakenForAStaleTokenAndChangesNothing() {
        ConsulFencingGuard guard = backend().fencingGuard();
        LockHandle held = Consuls.get(client().acquire(key));
        Consuls.done(guard.write(key, held.fencingToken(), Change.checkAndSet("order", 0, bytes("new"))));

        assertThat(Consuls.error(guard.write(
                        key,
                        held.fencingToken(),
                        Change.set("order", bytes("changed")),
                        Change.checkAndSet("order", 0, bytes("newer")))))
                .isNotInstanceOf(StaleTokenException.class)
                .hasMessageContaining("order");
        assertThat(order()).isEqualTo("new");
        Consuls.done(held.release());
    }

    @Test
    void whatCannotBeAGuardedWriteIsRefusedAtOnce() {
        ConsulFencingGuard guard = backend().fencingGuard();
        Change[] many =
                IntStream.range(0, 64).mapToObj(i -> Change.delete("order")).toArray(Change[]::new);

        assertThatThrownBy(() -> guard.write(key, 1, Change.delete("order")))
                .hasMessageContaining("not a fencing token");
        assertThatThrownBy(() -> guard.write(key, 1L << 20, many)).hasMessageContaining("at most 63");
    }
}
