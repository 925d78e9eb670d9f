package io.github.reactivelock.lettuce;

import static io.github.reactivelock.lettuce.RedisFixture.ask;
import static io.github.reactivelock.lettuce.RedisFixture.claim;
import static io.github.reactivelock.lettuce.RedisFixture.eventually;
import static io.github.reactivelock.lettuce.RedisFixture.next;
import static io.github.reactivelock.lettuce.RedisFixture.queue;
import static io.github.reactivelock.lettuce.RedisFixture.release;
import static io.github.reactivelock.lettuce.RedisFixture.take;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.LossReason;
import io.lettuce.core.KillArgs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;

class ServerFaultTest {

    @RegisterExtension
    static final RedisFixture fixture = new RedisFixture();

    private LockBackend backend;

    @BeforeEach
    void fresh() {
        backend = fixture.backend();
    }

    @Test
    void withoutMemoryNothingIsHalfTaken() {
        Claim owner = claim("held");
        take(backend, owner);
        fixture.redis.configSet("maxmemory", "1");

        assertThatThrownBy(() -> ask(backend, claim("free")))
                .hasMessageContaining("OOM")
                .hasMessageContaining("maxmemory");
        assertThatThrownBy(() -> ask(backend, claim("held"))).hasMessageContaining("OOM");

        assertThat(fixture.keysOf("free")).isEmpty();
        assertThat(fixture.keysOf("held"))
                .containsExactlyInAnyOrder("{reactivelock:held}", "{reactivelock:held}:token");
        assertThat(take(backend, owner)).isPositive();
        assertThat(backend.renew(List.of(owner)).block().renewed()).containsExactly(owner.id());
    }

    @Test
    void withoutMemoryALockIsStillGivenUpAndPassedOn() {
        BlockingQueue<Signal> signals = fixture.signals(backend);
        Claim owner = claim("a");
        Claim waiter = claim("a");
        take(backend, owner);
        queue(backend, waiter);
        fixture.redis.configSet("maxmemory", "1");

        assertThat(release(backend, owner)).isTrue();
        assertThat(((Signal.Grant) next(signals)).claimId()).isEqualTo(waiter.id());
        assertThat(release(backend, waiter)).isTrue();

        assertThat(fixture.keysOf("a")).containsExactly("{reactivelock:a}:token");
    }

    /** As on a disk that is full: the file to save to is a directory. */
    @Test
    void aServerThatCannotSaveRefusesClaimsAndCostsHoldsAfterTheirLease() throws IOException {
        LockClient client = RedisFixture.client(backend);
        LockHandle held = client.with(LockOptions.defaults().withLease(Duration.ofSeconds(5)))
                .acquire("held")
                .block(RedisFixture.PATIENCE);
        Path file = Files.createDirectory(fixture.server.directory().resolve("dump.rdb"));
        fixture.redis.configSet("save", "3600 1");
        try {
            untilSaved("err");

            assertThatThrownBy(() -> client.acquire("free").block(RedisFixture.PATIENCE))
                    .hasMessageContaining("MISCONF")
                    .hasMessageContaining("mend the disk");
            assertThat(held.lost().block(RedisFixture.PATIENCE).reason()).isEqualTo(LossReason.UNREACHABLE);

            Files.delete(file);
            untilSaved("ok");
            for (String key : List.of("free", "held")) {
                assertThat(client.acquire(key)
                                .flatMap(LockHandle::release)
                                .thenReturn(key)
                                .block(RedisFixture.PATIENCE))
                        .isEqualTo(key);
            }
        } finally {
            fixture.redis.configSet("save", "");
            Files.deleteIfExists(file);
        }
    }

    private static void untilSaved(String status) {
        fixture.redis.bgsave();
        eventually(
                "saving has ended",
                () -> fixture.redis.info("persistence").contains("rdb_bgsave_in_progress:0")
                        && fixture.redis.info("persistence").contains("rdb_last_bgsave_status:" + status));
    }

    @Test
    void aLockThatCannotBePassedOnIsGivenUpAndTheNextLooks() {
        BlockingQueue<Signal> signals = fixture.signals(backend);
        Claim owner = claim("a}");
        take(backend, owner);
        queue(backend, claim("a}"));
        fixture.redis.del("{reactivelock:a%7D}:token");
        fixture.redis.rpush("{reactivelock:a%7D}:token", "x");

        assertThat(release(backend, owner)).isTrue();

        assertThat(next(signals)).isEqualTo(new Signal.Recheck("a}"));
        assertThat(backend.inspect("a}").block()).isEqualTo(new LockInfo.Free("a}"));
        assertThatThrownBy(() -> ask(backend, claim("a}"))).hasMessageContaining("'{reactivelock:a%7D}:token'");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ":queue", ":waiters", ":token"})
    void aForeignListUnderOneOfOurKeysIsAnErrorThatNamesIt(String suffix) {
        take(backend, claim("a"));
        fixture.redis.del("{reactivelock:a}" + suffix);
        fixture.redis.rpush("{reactivelock:a}" + suffix, "x");
        if (suffix.equals(":token")) {
            fixture.redis.del("{reactivelock:a}");
        }

        assertThatThrownBy(() -> ask(backend, claim("a")))
                .hasMessageContaining("'{reactivelock:a}" + suffix + "' (a list)")
                .hasMessageContaining("delete or rename");
    }

    @Test
    void aForeignTextUnderOurKeyIsAnErrorForEveryQuestion() {
        fixture.redis.set("{reactivelock:a}", "hello");

        assertThatThrownBy(() -> ask(backend, claim("a"))).hasMessageContaining("'{reactivelock:a}'");
        assertThatThrownBy(() -> release(backend, claim("a"))).hasMessageContaining("'{reactivelock:a}'");
        assertThatThrownBy(() -> backend.inspect("a").block()).hasMessageContaining("'{reactivelock:a}'");
        assertThatThrownBy(() -> backend.forceRelease("a", 1).block()).hasMessageContaining("'{reactivelock:a}'");
        assertThat(fixture.redis.get("{reactivelock:a}")).isEqualTo("hello");
    }

    @Test
    void aServerThatForgotTheScriptIsGivenItAgain() {
        Claim first = claim("a");
        take(backend, first);
        fixture.redis.scriptFlush();

        assertThat(release(backend, first)).isTrue();
        fixture.redis.configResetstat();
        Claim second = claim("a");
        take(backend, second);
        assertThat(release(backend, second)).isTrue();

        assertThat(fixture.calls()).containsEntry("evalsha", 2L).doesNotContainKey("eval");
    }

    @Test
    void aKilledReceiverComesBackSaysSoAndHearsAgain() {
        BlockingQueue<Signal> signals = fixture.signals(backend);
        Claim owner = claim("a");
        Claim waiter = claim("a");
        take(backend, owner);
        queue(backend, waiter);

        assertThat(fixture.redis.clientKill(KillArgs.Builder.typePubsub())).isOne();

        assertThat(next(signals)).isInstanceOf(Signal.Reconnected.class);
        release(backend, owner);
        assertThat(((Signal.Grant) next(signals)).claimId()).isEqualTo(waiter.id());
    }

    @Test
    void aKilledCommandConnectionLosesNothing() {
        Claim owner = claim("a");
        long token = take(backend, owner);

        fixture.redis.clientKill(KillArgs.Builder.typeNormal().skipme());

        assertThat(take(backend, owner)).isEqualTo(token);
        assertThat(release(backend, owner)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "nonsense",
                "grant",
                "grant x 0",
                "grant x 99999999999999999999",
                "recheck nothing",
                "\0",
                "forced"
            })
    void aMessageFromAStrangerIsPassedOver(String forged) {
        BlockingQueue<Signal> signals = fixture.signals(backend);
        String channel = fixture.redis.pubsubChannels("reactivelock:0:grants:*").get(0);

        fixture.redis.publish(channel, forged);
        fixture.redis.publish(channel, "grant AAAAAAAAAAAAAAAAAAAAAA 1");

        assertThat(next(signals)).isEqualTo(new Signal.Grant("AAAAAAAAAAAAAAAAAAAAAA", 1L << LockBackend.PASS_BITS));
    }

    @Test
    void aWatcherSeesEveryChangeAndALookAfterEveryInterruption() {
        BlockingQueue<LockEvent> events = new LinkedBlockingQueue<>();
        Disposable watch = backend.events("a").subscribe(events::add);
        assertThat(next(events)).isEqualTo(new LockEvent.Snapshot(new LockInfo.Free("a")));

        Claim owner = claim("a");
        Claim waiter = claim("a");
        long first = take(backend, owner);
        queue(backend, waiter);
        release(backend, owner);
        long second = take(backend, waiter);
        assertThat(next(events)).isEqualTo(new LockEvent.Acquired("a", "a test", first));
        assertThat(next(events)).isEqualTo(new LockEvent.Released("a", first));
        assertThat(next(events)).isEqualTo(new LockEvent.Acquired("a", "a test", second));

        fixture.redis.clientKill(KillArgs.Builder.typePubsub());
        assertThat(next(events))
                .isInstanceOfSatisfying(
                        LockEvent.Snapshot.class,
                        snapshot -> assertThat(snapshot.info()).isInstanceOf(LockInfo.Held.class));
        assertThat(backend.forceRelease("a", second).block()).isTrue();
        assertThat(next(events)).isEqualTo(new LockEvent.Released("a", second));

        watch.dispose();
        eventually("nobody listens", () -> fixture.redis.pubsubChannels().isEmpty());
    }

    @Test
    void aLockThatNobodyWatchesIsChangedInSilence() {
        Disposable watch = backend.events("other").subscribe();
        eventually("the other lock is watched", () -> fixture.isWatched("other"));
        fixture.redis.configResetstat();

        Claim claim = claim("a");
        take(backend, claim);
        release(backend, claim);

        assertThat(fixture.calls()).doesNotContainKey("publish");
        watch.dispose();
    }

    @Test
    void twoWatchersOfOneKeyDoNotDisturbEachOther() {
        BlockingQueue<LockEvent> kept = new LinkedBlockingQueue<>();
        Disposable first = backend.events("a").subscribe();
        Disposable second = backend.events("a")
                .filter(event -> !(event instanceof LockEvent.Snapshot))
                .subscribe(kept::add);
        eventually("the lock is watched", () -> fixture.isWatched("a"));

        first.dispose();
        take(backend, claim("a"));

        assertThat(next(kept)).isInstanceOf(LockEvent.Acquired.class);
        second.dispose();
    }
}
