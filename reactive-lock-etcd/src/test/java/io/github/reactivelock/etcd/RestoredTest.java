package io.github.reactivelock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.testservers.EtcdServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An etcd that was put back to an older backup, which has the revision that it had then. */
class RestoredTest {

    private static final LockOptions LONG = LockOptions.defaults().withLease(Duration.ofMinutes(5));
    /** It asks again after a third of it, and outlasts the time without a server. */
    private static final LockOptions SHORT = LockOptions.defaults().withLease(Duration.ofSeconds(30));

    private static LockClient client(EtcdServer server) {
        return LockClient.builder(EtcdFixture.patient(server.uri()))
                .commandTimeout(Duration.ofSeconds(40))
                .build()
                .with(LONG);
    }

    /** With the permissions, of which etcd wants to be sure. */
    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path each : all.toList()) {
                Files.copy(each, to.resolve(from.relativize(each)), StandardCopyOption.COPY_ATTRIBUTES);
            }
        }
    }

    @Test
    void anOlderBackupLosesHoldsMadeSinceBringsBackOthersAndTokensMayFall(@TempDir Path elsewhere) throws IOException {
        try (EtcdServer server = EtcdServer.start()) {
            LockClient early = client(server);
            LockClient late = client(server);
            Path data = server.directory().resolve("data");
            Path backup = elsewhere.resolve("backup");
            LockHandle kept = Etcds.get(early.acquire("kept"));
            LockHandle released = Etcds.get(early.acquire("released since"));
            server.stop();
            copy(data, backup);
            server.restart();
            Etcds.get(Etcds.patiently(released.release()));
            for (int i = 0; i < 20; i++) {
                Etcds.get(Etcds.get(Etcds.patiently(late.acquire("other"))).release());
            }
            LockHandle taken = Etcds.get(Etcds.patiently(late.acquire("taken since")));
            CompletableFuture<LockHandle> waiting =
                    late.with(SHORT).acquire("kept").toFuture();
            Etcds.until(
                    "one waits",
                    () -> Etcds.get(early.inspect("kept")).held().orElseThrow().waiters() == 1);

            server.stop();
            Files.move(data, elsewhere.resolve("newer"));
            copy(backup, data);
            server.restart();

            Etcds.get(taken.renew().onErrorComplete().then(taken.lost()));
            Etcds.get(Etcds.patiently(kept.renew()));
            assertThat(kept.isHeld()).isTrue();
            assertThat(Etcds.get(Etcds.patiently(early.forceRelease("released since"))))
                    .isTrue();
            LockHandle next = Etcds.get(Etcds.patiently(early.acquire("taken since")));
            assertThat(next.fencingToken()).isLessThan(taken.fencingToken());
            Etcds.get(kept.release());
            assertThat(Etcds.get(waiting).isHeld()).as("who waits is served").isTrue();
            List.of(early, late).forEach(client -> Etcds.get(client.close()));
        }
    }
}
