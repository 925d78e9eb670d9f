package io.github.reactivelock.blocking;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.lettuce.LettuceLockBackend;
import io.github.reactivelock.state.LossReason;
import io.github.reactivelock.testservers.RedisServer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A real server that is gone. */
class LossOnRedisTest {

    private final RedisServer server = RedisServer.start();

    /** The margin is wide, so that a busy machine is in time too. */
    private final LockClient client = LockClient.builder(LettuceLockBackend.connect(server.uri()))
            .commandTimeout(Fixture.PATIENCE)
            .clockMargin(0.5, Duration.ofMillis(2))
            .options(LockOptions.defaults().withLease(Duration.ofSeconds(12)))
            .build();

    private final BlockingLockClient locks = BlockingLockClient.of(client);

    @AfterEach
    void close() {
        client.close().block(Fixture.PATIENCE);
        server.close();
    }

    @Test
    void aStoreThatStopsInterruptsTheWorkBeforeTheLeaseCanHaveRunOut() {
        AtomicLong leaseEnds = new AtomicLong();
        AtomicLong interruptedAt = new AtomicLong();

        assertThatThrownBy(() -> locks.withLock("a", () -> {
                    Long left = (Long) server.command("PTTL", "{reactivelock:a}");
                    leaseEnds.set(System.nanoTime() + Duration.ofMillis(left).toNanos());
                    server.kill();
                    try {
                        Fixture.block();
                    } catch (InterruptedException e) {
                        interruptedAt.set(System.nanoTime());
                        throw e;
                    }
                }))
                .isInstanceOfSatisfying(
                        LockLostException.class,
                        loss -> assertThat(loss.reason()).isEqualTo(LossReason.UNREACHABLE));

        assertThat(interruptedAt.get() - leaseEnds.get()).isNegative();
    }

    @Test
    void whatAThreadHasIsGivenBackToTheServer() throws Exception {
        locks.withLock(
                "a",
                () -> assertThat(server.command("EXISTS", "{reactivelock:a}")).isEqualTo(1L));

        assertThat(server.command("EXISTS", "{reactivelock:a}")).isEqualTo(0L);
    }
}
