package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;
import reactor.test.scheduler.VirtualTimeScheduler;

class DeadlinesTest {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    private static <T> Mono<T> watched(Deadlines deadlines, Mono<T> command) {
        return Mono.defer(() -> command.timeout(deadlines.turn()));
    }

    @Test
    void manyCommandsHaveOneTimer() {
        AtomicInteger timers = new AtomicInteger();
        String hook = "DeadlinesTest";
        Schedulers.onScheduleHook(hook, task -> {
            if (task.getClass().getName().startsWith(Deadlines.class.getName())) {
                timers.incrementAndGet();
            }
            return task;
        });
        try {
            Deadlines deadlines = new Deadlines(Duration.ofMinutes(1));

            Flux.range(0, 100)
                    .concatMap(i -> watched(deadlines, Mono.just(i)))
                    .then()
                    .block(LIMIT);

            assertThat(timers).hasValue(1);
        } finally {
            Schedulers.resetOnScheduleHook(hook);
        }
    }

    @Test
    void everyCommandThatIsNotAnsweredIsEndedThoughOthersComeAllTheTime() {
        Deadlines deadlines = new Deadlines(Duration.ofMillis(10));
        List<CompletableFuture<Object>> silent = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            silent.add(watched(deadlines, Mono.never()).toFuture());
            Integer unused = watched(deadlines, Mono.just(i)).onErrorComplete().block(LIMIT);
        }

        assertThat(silent)
                .allSatisfy(each -> assertThat(each)
                        .failsWithin(LIMIT)
                        .withThrowableThat()
                        .withCauseInstanceOf(TimeoutException.class));
    }

    @Test
    void aCommandWithAConnectionIsLateThoughTheLineMoves() {
        Deadlines deadlines = new Deadlines(Duration.ofMillis(300));
        Deadlines.Turn begun = deadlines.turn();
        CompletableFuture<Object> silent = Mono.never().timeout(begun).toFuture();
        begun.begin();

        var moving = Flux.interval(Duration.ofMillis(10))
                .subscribe(tick -> deadlines.turn().begin());

        assertThat(silent).failsWithin(LIMIT).withThrowableThat().withCauseInstanceOf(TimeoutException.class);
        moving.dispose();
    }

    @Test
    void aCommandInALineThatMovesIsNotLate() {
        Deadlines deadlines = new Deadlines(Duration.ofSeconds(6));
        Sinks.One<String> answer = Sinks.one();
        CompletableFuture<String> standing =
                answer.asMono().timeout(deadlines.turn()).toFuture();

        Mono<Long> lent = Flux.interval(Duration.ofMillis(10))
                .doOnNext(tick -> deadlines.turn().begin())
                .take(650)
                .count();
        assertThat(lent.block(LIMIT)).isEqualTo(650);
        answer.tryEmitValue("answered").orThrow();

        assertThat(standing).succeedsWithin(LIMIT).isEqualTo("answered");
    }

    /** The timer runs before the driver reads what came in a pause of this process. */
    @ParameterizedTest
    @ValueSource(longs = {2_100, 2_400, 5_000})
    void afterAPauseAnAnswerThatLiesUnreadHasAMomentAndSilenceNoMore(long over) {
        VirtualTimeScheduler timer = VirtualTimeScheduler.create();
        AtomicLong paused = new AtomicLong();
        Deadlines deadlines =
                new Deadlines(Duration.ofSeconds(2), timer, () -> timer.now(TimeUnit.NANOSECONDS) + paused.get());
        Sinks.One<String> answer = Sinks.one();
        CompletableFuture<String> answered =
                answer.asMono().timeout(deadlines.turn()).toFuture();
        CompletableFuture<Object> silent =
                Mono.never().timeout(deadlines.turn()).toFuture();

        paused.addAndGet(Duration.ofMillis(over - 2_000).toNanos());
        timer.advanceTimeBy(Duration.ofSeconds(2));
        assertThat(answered).isNotDone();
        answer.tryEmitValue("answered").orThrow();
        timer.advanceTimeBy(Duration.ofMillis(250));

        assertThat(answered).isCompletedWithValue("answered");
        assertThat(silent).isCompletedExceptionally();
    }
}
