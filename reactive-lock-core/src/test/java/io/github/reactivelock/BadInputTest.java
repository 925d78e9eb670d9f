package io.github.reactivelock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.github.reactivelock.memory.InMemoryLockBackend;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What is refused at once, by name, and what is data and works. */
class BadInputTest {

    private final Bench bench = new Bench();
    private final LockClient client = bench.client;

    static Stream<Function<String, Object>> everyMethodWithAKey() {
        LockClient client = new Bench().client;
        return Stream.of(
                client::acquire,
                client::tryAcquire,
                client::inspect,
                client::events,
                client::awaitRelease,
                client::forceRelease,
                key -> client.forceRelease(key, 1),
                key -> client.isCurrent(key, 1),
                key -> client.withLock(key, Mono.empty()),
                key -> client.withLock(key, Flux.empty()),
                key -> client.withLock(key, held -> Mono.empty()),
                key -> client.withLockMany(key, held -> Flux.empty()),
                key -> client.withLock(Arrays.asList("a", key), Mono.empty()),
                key -> client.withLock(Arrays.asList("a", key), Flux.empty()),
                key -> client.withLock(Arrays.asList("a", key), held -> Mono.empty()),
                key -> client.withLockMany(Arrays.asList("a", key), held -> Flux.empty()),
                key -> client.tryWithLock(key, Mono.empty(), Mono.empty()),
                key -> client.tryWithLock(key, Flux.empty(), Flux.empty()),
                key -> client.tryWithLock(key, held -> Mono.empty(), Mono.empty()),
                key -> client.tryWithLockMany(key, held -> Flux.empty(), Flux.empty()),
                key -> client.tryWithLock(Arrays.asList("a", key), Mono.empty(), Mono.empty()),
                key -> client.tryWithLock(Arrays.asList("a", key), Flux.empty(), Flux.empty()),
                key -> client.tryWithLock(Arrays.asList("a", key), held -> Mono.empty(), Mono.empty()),
                key -> client.tryWithLockMany(Arrays.asList("a", key), held -> Flux.empty(), Flux.empty()));
    }

    @ParameterizedTest
    @MethodSource("everyMethodWithAKey")
    void aBadKeyIsRefusedWhenTheMethodIsCalled(Function<String, Object> method) {
        for (String bad : Arrays.asList(null, "", " ", "\t\n", "x".repeat(513), "\ud800", "a\udc00b")) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> method.apply(bad))
                    .withMessageContaining("key of a lock");
        }
    }

    @Test
    void theMessageNamesTheValue() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> client.acquire("  "))
                .withMessageContaining("'  '");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> client.acquire("user:" + "ä".repeat(300)))
                .withMessageContaining("605")
                .withMessageContaining("'user:ääää");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> client.acquire("a\ud800b"))
                .withMessageContaining("surrogate");
    }

    @Test
    void anyOtherKeyIsDataAndCollidesWithNone() {
        List<String> keys = List.of(
                "a",
                "A",
                "a ",
                " a",
                "a/b",
                "a//b",
                "..",
                "../a",
                "{a}",
                "}a",
                "{",
                "%7B",
                "a:b",
                "a\nb",
                "a\0b",
                "😀",
                "é",
                "e\u0301",
                "x".repeat(512),
                "ä".repeat(256));
        InMemoryLockBackend store = InMemoryLockBackend.create(bench.time::nanos);
        LockClient locks = bench.over(store).build();

        Set<Long> tokens = new HashSet<>();
        for (String key : keys) {
            LockHandle handle = Bench.held(Bench.subscribe(locks.acquire(key)));
            assertThat(handle.key()).isEqualTo(key);
            tokens.add(handle.fencingToken());
        }

        assertThat(tokens).hasSameSizeAs(keys);
    }

    @Test
    void noKeysAtAllAreRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> client.withLock(List.of(), Mono.empty()));
        assertThatIllegalArgumentException().isThrownBy(() -> client.withLockMany(Set.of(), held -> Flux.empty()));
    }

    @Test
    void workThatIsNullIsRefusedAtOnce() {
        assertThatNullPointerException().isThrownBy(() -> client.withLock("k", (Mono<String>) null));
        assertThatNullPointerException().isThrownBy(() -> client.withLock("k", (Flux<String>) null));
        assertThatNullPointerException().isThrownBy(() -> client.withLockMany("k", null));
        assertThatNullPointerException().isThrownBy(() -> client.withLock(List.of("k"), (Mono<String>) null));
        assertThatNullPointerException().isThrownBy(() -> client.withLockMany(List.of("k"), null));
        assertThatNullPointerException().isThrownBy(() -> client.with(null));
        assertThatNullPointerException().isThrownBy(() -> client.tryWithLock("k", (Mono<String>) null, Mono.empty()));
        assertThatNullPointerException().isThrownBy(() -> client.tryWithLock("k", Mono.empty(), null));
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT0S", "PT-1S", "PT0.099999999S", "P365DT0.000000001S", "PT87600000H"})
    void aLeaseOutOfRangeIsRefused(Duration lease) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockOptions.defaults().withLease(lease))
                .withMessageContaining("lease")
                .withMessageContaining(lease.toString())
                .withMessageContaining("100 ms");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockOptions.defaults().withMaxHold(lease))
                .withMessageContaining("maxHold")
                .withMessageContaining(lease.toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT0S", "PT-1S", "P365DT0.000000001S"})
    void aWaitTimeoutOutOfRangeIsRefused(Duration timeout) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockOptions.defaults().withWaitTimeout(timeout))
                .withMessageContaining("waitTimeout")
                .withMessageContaining("more than zero")
                .withMessageContaining(timeout.toString());
    }

    @Test
    void theLimitsThemselvesWork() {
        LockOptions options = LockOptions.defaults()
                .withLease(Duration.ofDays(365))
                .withWaitTimeout(Duration.ofDays(365))
                .withMaxHold(Duration.ofDays(365));
        LockHandle handle = bench.hold(client.with(options), "k", 1);

        assertThat(handle.remaining()).isGreaterThan(Duration.ofDays(361));
        assertThatCode(() ->
                        LockOptions.defaults().withLease(Duration.ofMillis(100)).withWaitTimeout(Duration.ofNanos(1)))
                .doesNotThrowAnyException();
    }

    @ParameterizedTest
    @NullSource
    @ValueSource(strings = {"", " ", "a\nb", "\ud800", "\u0000"})
    void aBadOwnerIsRefused(String owner) {
        Class<? extends RuntimeException> expected =
                owner == null ? NullPointerException.class : IllegalArgumentException.class;
        assertThatCode(() -> LockOptions.defaults().withOwner(owner)).isInstanceOf(expected);
        assertThatCode(() -> LockContext.owner(owner)).isInstanceOf(expected);
        assertThatCode(() -> LockClient.builder(bench.store).name(owner)).isInstanceOf(expected);
    }

    @Test
    void badSettingsOfAClientAreRefused() {
        LockClientBuilder builder = LockClient.builder(bench.store);
        Duration century = Duration.ofDays(366_000);
        assertThatNullPointerException().isThrownBy(() -> LockClient.builder(null));
        for (Duration bad : List.of(Duration.ZERO, Duration.ofMillis(-1), Duration.ofNanos(9_999_999), century)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> builder.commandTimeout(bad))
                    .withMessageContaining(bad.toString());
        }
        assertThatIllegalArgumentException().isThrownBy(() -> builder.passBudget(-1, Duration.ZERO));
        assertThatIllegalArgumentException().isThrownBy(() -> builder.passBudget(4_096, Duration.ZERO));
        assertThatIllegalArgumentException().isThrownBy(() -> builder.passBudget(1, Duration.ofMillis(-1)));
        assertThatIllegalArgumentException().isThrownBy(() -> builder.passBudget(1, century));
        for (double bad : new double[] {-0.01, 0.51, Double.NaN, Double.POSITIVE_INFINITY}) {
            assertThatIllegalArgumentException().isThrownBy(() -> builder.clockMargin(bad, Duration.ZERO));
        }
        assertThatIllegalArgumentException().isThrownBy(() -> builder.clockMargin(0, Duration.ofMillis(-1)));
        assertThatIllegalArgumentException().isThrownBy(() -> builder.clockMargin(0, century));
    }

    @Test
    void optionsAreCopiesThatSayWhatTheyAre() {
        LockOptions defaults = LockOptions.defaults();
        LockOptions changed = defaults.withLease(Duration.ofSeconds(5))
                .withoutRenewal()
                .withWaitTimeout(Duration.ofSeconds(1))
                .withMaxHold(Duration.ofSeconds(9))
                .withMinHold(Duration.ofSeconds(2))
                .withLockDelay(Duration.ofSeconds(4))
                .withFairness(Fairness.FIFO)
                .withOwner("me");

        assertThat(defaults)
                .hasToString("LockOptions[lease=PT30S, renewed=true, waitTimeout=none, maxHold=none,"
                        + " minHold=none, lockDelay=none, fairness=COHORT, releaseAwaited=true, owner=client]");
        assertThat(changed)
                .hasToString("LockOptions[lease=PT5S, renewed=false, waitTimeout=PT1S, maxHold=PT9S,"
                        + " minHold=PT2S, lockDelay=PT4S, fairness=FIFO, releaseAwaited=true, owner=me]");
        assertThat(changed.withRenewal().isRenewed()).isTrue();
        assertThat(changed.withoutWaitTimeout().waitTimeout()).isEmpty();
        assertThat(changed.owner()).contains("me");
    }

    @Test
    void aMinimumHoldBeyondTheLongestIsRefusedWhereItIsSaid() {
        Duration second = Duration.ofSeconds(1);
        LockOptions longest = LockOptions.defaults().withMaxHold(second);
        LockOptions least = LockOptions.defaults().withMinHold(second.multipliedBy(2));

        assertThatIllegalArgumentException()
                .isThrownBy(() -> longest.withMinHold(second.multipliedBy(2)))
                .withMessageContaining("minHold of PT2S is longer than maxHold of PT1S");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> least.withMaxHold(second))
                .withMessageContaining("use a shorter minHold or a longer maxHold");
    }

    @Test
    void aFunctionThatReturnsNullIsToldWithTheKey() {
        LockClient client = LockClient.create(InMemoryLockBackend.create().connect());
        assertThatNullPointerException()
                .isThrownBy(() -> client.withLock("orders:7", held -> null).block(Duration.ofMinutes(1)))
                .withMessageContaining("lock 'orders:7'")
                .withMessageContaining("returned null");
        assertThatNullPointerException()
                .isThrownBy(() -> client.tryWithLock("orders:7", held -> null, Mono.empty())
                        .block(Duration.ofMinutes(1)))
                .withMessageContaining("lock 'orders:7'");
    }
}
