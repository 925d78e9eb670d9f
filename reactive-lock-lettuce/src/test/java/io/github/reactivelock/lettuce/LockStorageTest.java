package io.github.reactivelock.lettuce;

import static io.github.reactivelock.lettuce.RedisFixture.LEASE;
import static io.github.reactivelock.lettuce.RedisFixture.ask;
import static io.github.reactivelock.lettuce.RedisFixture.claim;
import static io.github.reactivelock.lettuce.RedisFixture.eventually;
import static io.github.reactivelock.lettuce.RedisFixture.next;
import static io.github.reactivelock.lettuce.RedisFixture.queue;
import static io.github.reactivelock.lettuce.RedisFixture.release;
import static io.github.reactivelock.lettuce.RedisFixture.take;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.lettuce.core.SetArgs;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;

class LockStorageTest {

    @RegisterExtension
    static final RedisFixture fixture = new RedisFixture();

    private LockBackend backend;

    @BeforeEach
    void fresh() {
        backend = fixture.backend();
    }

    private void takeAndRelease() {
        Claim claim = claim("a");
        take(backend, claim);
        assertThat(release(backend, claim)).isTrue();
    }

    @Test
    void aTokenRisesAlsoWhenTheCounterOrEverythingIsLost() {
        Claim first = claim("a");
        long token = take(backend, first);
        release(backend, first);
        fixture.redis.flushall();

        assertThat(take(backend, claim("a"))).isGreaterThan(token);
    }

    @Test
    void aTokenRisesAlsoWhenTheClockIsBehindTheCounter() {
        long ahead = (1L << 50) + 1;
        fixture.redis.set("{reactivelock:a}:token", Long.toString(ahead), SetArgs.Builder.ex(100));

        assertThat(take(backend, claim("a"))).isEqualTo((ahead + 1) << LockBackend.PASS_BITS);
    }

    @Test
    void aCounterIsKeptTenMinutesOrUntilTheClockReachesItsToken() {
        takeAndRelease();
        assertThat(keptSeconds()).isBetween(590L, 600L);
        fixture.redis.expire("{reactivelock:a}:token", 100);
        takeAndRelease();
        assertThat(keptSeconds()).as("from the last grant").isBetween(590L, 600L);

        aheadBy(3_600);
        takeAndRelease();
        assertThat(keptSeconds()).isBetween(4_190L, 4_200L);
        assertThat(backend.events("a").blockFirst()).isInstanceOf(LockEvent.Snapshot.class);
        assertThat(keptSeconds()).as("while somebody watches").isBetween(4_190L, 4_200L);
        Claim owner = claim("a");
        take(backend, owner);
        queue(backend, claim("a"));
        assertThat(ask(backend, claim("a", LEASE, Claim.Mode.TRY))).isInstanceOf(ClaimResult.Busy.class);
        release(backend, owner);
        assertThat(keptSeconds()).as("granted from the queue").isBetween(4_190L, 4_200L);
    }

    @Test
    void aHoldThatOutlastsTheCounterIsStillBelowTheNextOne() {
        aheadBy(3_600);
        Claim owner = claim("a");
        Claim waiter = claim("a");
        long token = take(backend, owner);
        fixture.redis.del("{reactivelock:a}:token");

        assertThat(ask(backend, waiter))
                .isInstanceOfSatisfying(
                        ClaimResult.Queued.class,
                        queued -> assertThat(queued.newestToken()).isEqualTo(token));
        release(backend, owner);

        assertThat(take(backend, waiter)).isGreaterThan(token);
    }

    private long keptSeconds() {
        return fixture.redis.ttl("{reactivelock:a}:token");
    }

    private void aheadBy(long seconds) {
        long now = Long.parseLong(fixture.redis.time().get(0)) - 1_577_836_800;
        fixture.redis.set(
                "{reactivelock:a}:token", Long.toString((now + seconds) * 1_000_000), SetArgs.Builder.ex(100));
    }

    @Test
    void aWatcherOutlivesWhoeverTakesTheLockAndWaitsForIt() {
        BlockingQueue<LockEvent> events = new LinkedBlockingQueue<>();
        Disposable watching = backend.events("a").subscribe(events::add);
        assertThat(next(events)).isInstanceOf(LockEvent.Snapshot.class);
        Claim owner = claim("a");
        Claim waiter = claim("a");
        long first = take(backend, owner);
        queue(backend, waiter);
        release(backend, owner);
        release(backend, waiter);
        long last = take(backend, claim("a"));

        assertThat(List.of(next(events), next(events), next(events), next(events), next(events)))
                .startsWith(new LockEvent.Acquired("a", owner.owner(), first), new LockEvent.Released("a", first))
                .endsWith(new LockEvent.Acquired("a", owner.owner(), last));
        watching.dispose();
    }

    @Test
    void aThousandRenewalsTakeTwoCommands() {
        List<Claim> held =
                IntStream.range(0, 1_000).mapToObj(i -> claim("key " + i)).toList();
        List<ClaimResult> answers =
                Flux.fromIterable(held).flatMap(backend::claim).collectList().block(RedisFixture.PATIENCE);
        assertThat(answers).hasSize(1_000).allMatch(ClaimResult.Granted.class::isInstance);
        fixture.redis.configResetstat();

        assertThat(backend.renew(held).block().renewed()).hasSize(1_000);

        assertThat(fixture.calls()).containsEntry("evalsha", 2L);
    }

    @Test
    void eachClientAsksTheServerOnceAboutFullMemory() {
        fixture.signals(backend);
        eventually("it was asked", () -> fixture.calls().getOrDefault("evalsha", 0L) == 1);

        fixture.signals(backend);
        takeAndRelease();

        assertThat(fixture.calls()).containsEntry("evalsha", 3L);
    }

    @Test
    void anOwnersNameMayBeAnyText() {
        for (String name : List.of("", " ", "a b\nc", "\0", "日本 😀", "{}%", "1 2 3")) {
            Claim named = new Claim("a", claim("a").id(), name, LEASE, Claim.Mode.QUEUE);
            Claim waiter = new Claim("a", claim("a").id(), name, LEASE, Claim.Mode.QUEUE);
            take(backend, named);
            queue(backend, waiter);
            assertThat(release(backend, named)).isTrue();
            assertThat(((LockInfo.Held) backend.inspect("a").block()).owner()).isEqualTo(name);
            assertThat(release(backend, waiter)).isTrue();
        }
    }

    @Test
    void oddKeysAreDifferentLocks() {
        List<String> keys = List.of("}", "{", "a}b", "%7D", "%", " ", "a", "A", "\0", "\n", "é", "e\u0301", "..", "/");
        Map<String, Long> tokens = new HashMap<>();
        for (String key : keys) {
            tokens.put(key, take(backend, claim(key)));
        }
        for (String key : keys) {
            assertThat(backend.forceRelease(key, tokens.get(key)).block()).isTrue();
        }
    }

    @Test
    void nobodyElseMeansExactlyTwoCommandsAndNoPublish() {
        takeAndRelease();
        fixture.redis.configResetstat();

        takeAndRelease();

        assertThat(fixture.calls())
                .containsEntry("evalsha", 2L)
                .doesNotContainKeys("publish", "eval", "subscribe", "script|load", "ping");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aLockWhoseOwnerIsGoneGoesToAWaiterNotTheNextAsker(boolean counted) {
        BlockingQueue<Signal> signals = fixture.signals(backend);
        Claim waiter = claim("a");
        take(backend, claim("a"));
        queue(backend, waiter);
        fixture.redis.del("{reactivelock:a}");
        if (!counted) {
            fixture.redis.del("{reactivelock:a}:token");
        }

        queue(backend, claim("a"));

        assertThat(next(signals))
                .isInstanceOfSatisfying(
                        Signal.Grant.class, grant -> assertThat(grant.claimId()).isEqualTo(waiter.id()));
    }

    @Test
    void onceNobodyWaitsOrWatchesAnyMoreNobodyLooksForThemEither() {
        Claim owner = claim("a");
        Claim waiter = claim("a");
        take(backend, owner);
        queue(backend, waiter);
        assertThat(backend.events("a").blockFirst()).isInstanceOf(LockEvent.Snapshot.class);
        release(backend, owner);
        release(backend, waiter);
        String counter = fixture.redis.get("{reactivelock:a}:token");
        fixture.redis.set(
                "{reactivelock:a}:token", counter.substring(0, counter.indexOf(' ')), SetArgs.Builder.ex(100));
        takeAndRelease();
        fixture.redis.configResetstat();

        takeAndRelease();

        assertThat(fixture.calls())
                .containsEntry("evalsha", 2L)
                .containsEntry("time", 1L)
                .containsEntry("set", 2L)
                .containsEntry("get", 1L)
                .containsEntry("del", 1L)
                .doesNotContainKeys("exists", "zpopmin", "publish");
    }

    @Test
    void aTokenRisesAlsoWhenSomebodyWaitsAndTheClockIsBehind() {
        BlockingQueue<Signal> signals = fixture.signals(backend);
        long ahead = (1L << 50) + 1;
        fixture.redis.set("{reactivelock:a}:token", Long.toString(ahead), SetArgs.Builder.ex(100));
        long first = take(backend, claim("a"));
        queue(backend, claim("a"));
        fixture.redis.del("{reactivelock:a}");

        queue(backend, claim("a"));

        assertThat(((Signal.Grant) next(signals)).fencingToken()).isGreaterThan(first);
    }

    @Test
    void everyKeyExpiresByItselfAndOnlyTheCounterOutlivesTheLock() {
        Claim owner = claim("a");
        Claim waiter = claim("a");
        take(backend, owner);
        queue(backend, waiter);
        assertThat(backend.events("a").blockFirst()).isInstanceOf(LockEvent.Snapshot.class);
        assertThat(fixture.keysOf("a")).hasSize(4);

        release(backend, owner);
        release(backend, waiter);

        assertThat(fixture.keysOf("a")).containsExactly("{reactivelock:a}:token");
    }

    @Test
    void aLeaseThatSomebodyMadeEndlessGetsItsEndBack() {
        take(backend, claim("a"));
        fixture.redis.persist("{reactivelock:a}");

        queue(backend, claim("a"));

        assertThat(fixture.keysOf("a")).contains("{reactivelock:a}");
    }
}
