package io.github.reactivelock.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.state.LossReason;
import io.github.reactivelock.testservers.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** A Redis that was put back to an older backup. */
class RestoredTest {

    private static final LockOptions LONG = LockOptions.defaults().withLease(Duration.ofMinutes(5));

    private static <T> T get(Mono<T> answer) {
        return answer.block(RedisFixture.PATIENCE);
    }

    @Test
    void anOlderBackupLosesHoldsMadeSinceBringsBackOthersAndTokensRise() throws IOException {
        try (RedisServer server = RedisServer.start()) {
            LockClient client = RedisFixture.client(LettuceLockBackend.connect(server.uri()))
                    .with(LONG);
            Path data = server.directory().resolve("dump.rdb");
            Path backup = server.directory().resolve("backup.rdb");
            LockHandle kept = get(client.acquire("kept"));
            LockHandle released = get(client.acquire("released since"));
            server.command("SAVE");
            Files.copy(data, backup);
            get(released.release());
            LockHandle taken = get(client.acquire("taken since"));

            server.kill();
            Files.move(backup, data, StandardCopyOption.REPLACE_EXISTING);
            server.restart();

            get(kept.renew());
            assertThat(kept.isHeld()).isTrue();
            assertThat(get(taken.renew().onErrorComplete().then(taken.lost())).reason())
                    .isEqualTo(LossReason.EXPIRED);
            assertThat(get(client.inspect("released since"))
                            .held()
                            .orElseThrow()
                            .fencingToken())
                    .isEqualTo(released.fencingToken());
            assertThat(get(client.forceRelease("released since"))).isTrue();
            assertThat(get(client.acquire("released since")).fencingToken()).isGreaterThan(released.fencingToken());
            assertThat(get(client.acquire("taken since")).fencingToken()).isGreaterThan(taken.fencingToken());
            get(client.close());
        }
    }
}
