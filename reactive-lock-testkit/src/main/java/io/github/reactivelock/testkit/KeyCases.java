package io.github.reactivelock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.state.LockInfo;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Any key is only data; an invalid key is refused at once. */
abstract class KeyCases extends Cases {

    private static final int RANDOM_KEYS = 100;

    KeyCases(LockBackendContract contract) {
        super(contract);
    }

    @Test
    void oddKeysDoNotCollideAndWorkLikeAnyOther() {
        List<String> keys = OddKeys.make(this::oddKey);
        LockClient one = client();
        LockClient other = client();

        List<LockHandle> held =
                Await.get(Flux.fromIterable(keys).concatMap(one::tryAcquire).collectList());

        assertThat(held).extracting(LockHandle::key).containsExactlyElementsOf(keys);
        for (LockHandle lock : held) {
            assertThat(Await.isEmpty(other.tryAcquire(lock.key()))).isTrue();
            assertThat(Await.get(other.inspect(lock.key())).key()).isEqualTo(lock.key());
            Await.run(lock.renew());
        }
        Set<String> left = new HashSet<>(keys);
        for (LockHandle lock : held) {
            Await.run(lock.release());
            left.remove(lock.key());
            assertThat(isFree(other, lock.key())).isTrue();
        }
        assertThat(left).isEmpty();
    }

    @Test
    void randomKeysDoNotCollideAndComeBackWhole() {
        RandomKeys random = new RandomKeys();
        List<String> keys = random.make(RANDOM_KEYS, this::oddKey);
        LockClient one = client();
        LockClient other = client();

        List<LockHandle> held =
                Await.get(Flux.fromIterable(keys).concatMap(one::tryAcquire).collectList());

        assertThat(held).as("%s", random).extracting(LockHandle::key).containsExactlyElementsOf(keys);
        for (LockHandle lock : held) {
            assertThat(Await.get(other.inspect(lock.key())))
                    .as("%s", random)
                    .isInstanceOfSatisfying(LockInfo.Held.class, info -> {
                        assertThat(info.key()).isEqualTo(lock.key());
                        assertThat(info.fencingToken()).isEqualTo(lock.fencingToken());
                    });
        }
        Await.run(Flux.fromIterable(held).concatMap(LockHandle::release).then());
    }

    @Test
    void aGrantOfAnOddKeyIsPushed() {
        LockClient one = client();
        LockClient other = client();
        for (String odd : OddKeys.make(this::oddKey)) {
            LockHandle held = Await.get(one.acquire(odd));
            var next = other.acquire(odd).toFuture();
            untilQueued(one, odd, 1);
            Await.run(held.release());
            Await.run(Await.get(next).release());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "   ", "\n", "lone surrogate \ud83d", "\udd12 at the start"})
    void whatIsNoKeyIsRefusedAtAssembly(String bad) {
        assertRefused(bad);
    }

    @Test
    void aKeyThatIsTooLongIsRefusedAtAssembly() {
        assertRefused("x".repeat(513));
        assertRefused("\u00e9".repeat(257));
    }

    private void assertRefused(String bad) {
        LockClient client = client();
        List<Function<String, Publisher<?>>> ways = List.of(
                client::acquire,
                client::tryAcquire,
                client::inspect,
                client::events,
                client::awaitRelease,
                client::forceRelease,
                key -> client.withLock(key, Mono.empty()),
                key -> client.withLock(key, Flux.empty()),
                key -> client.withLock(List.of("good", key), Mono.empty()));
        String shown = bad.substring(0, Math.min(10, bad.length()));
        for (Function<String, Publisher<?>> way : ways) {
            assertThatThrownBy(() -> way.apply(bad))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("key")
                    .hasMessageContaining(shown);
        }
    }

    @Test
    void durationsOutOfRangeAreRefusedAndNamed() {
        for (Duration bad : List.of(
                Duration.ZERO,
                Duration.ofSeconds(-1),
                Duration.ofMillis(99),
                Duration.ofDays(365).plusNanos(1))) {
            assertThatThrownBy(() -> DEFAULTS.withLease(bad))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("lease")
                    .hasMessageContaining(bad.toString());
            assertThatThrownBy(() -> DEFAULTS.withMaxHold(bad)).isInstanceOf(IllegalArgumentException.class);
        }
        for (Duration bad : List.of(Duration.ZERO, Duration.ofNanos(-1), Duration.ofDays(366))) {
            assertThatThrownBy(() -> DEFAULTS.withWaitTimeout(bad))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(bad.toString());
        }
    }

    @Test
    void noKeysAtAllAreRefused() {
        assertThatThrownBy(() -> client().withLock(List.of(), Mono.empty()))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
