package io.github.reactivelock.engine.hold;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.memory.InMemoryLockBackend;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/**
 * A job that three processes start every minute, each by a clock of its own: {@code tryWithLock} and a minimum hold.
 */
class JobsTest {

    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final int INSTANTS = 6;
    /** What each clock shows later than the first one; the job takes a few milliseconds. */
    private static final List<Duration> SKEWS =
            List.of(Duration.ZERO, Duration.ofMillis(700), Duration.ofMillis(2_300));

    private final Bench bench = new Bench();
    private final AtomicInteger runs = new AtomicInteger();

    private int runsWith(UnaryOperator<LockOptions> change) {
        InMemoryLockBackend store = InMemoryLockBackend.create(bench.time::nanos);
        for (Duration skew : SKEWS) {
            LockClient instance = bench.over(store.connect()).build();
            LockClient jobs = instance.with(change.apply(instance.options()));
            Mono<Integer> job = Mono.fromSupplier(runs::incrementAndGet).delayElement(Duration.ofMillis(5), bench.time);
            for (int instant = 0; instant < INSTANTS; instant++) {
                Bench.subscribe(Mono.delay(MINUTE.multipliedBy(instant).plus(skew), bench.time)
                        .then(jobs.tryWithLock("report", job, Mono.empty())));
            }
        }
        for (int step = 0; step < INSTANTS * 600; step++) {
            bench.time.advance(Duration.ofMillis(100));
        }
        return runs.get();
    }

    @Test
    void withoutAMinimumEveryProcessRunsIt() {
        assertThat(runsWith(options -> options)).isEqualTo(INSTANTS * SKEWS.size());
    }

    @Test
    void withOneItRunsOnceAnInstant() {
        assertThat(runsWith(options -> options.withMinHold(Duration.ofSeconds(5))))
                .isEqualTo(INSTANTS);
    }

    @Test
    void aMinimumThatIsShorterThanTheDifferenceOfTheClocksIsNotEnough() {
        assertThat(runsWith(options -> options.withMinHold(Duration.ofSeconds(1))))
                .isEqualTo(2 * INSTANTS);
    }
}
