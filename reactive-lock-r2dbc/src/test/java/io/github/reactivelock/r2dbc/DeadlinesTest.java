package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.spi.support.SilenceClock;
import io.r2dbc.spi.R2dbcTransientResourceException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.scheduler.VirtualTimeScheduler;

class DeadlinesTest {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    /** One that had a connection and an answer, so that the time of the first ones is over. */
    private static Deadlines opened(Deadlines deadlines) {
        deadlines.lent();
        deadlines.answered();
        return deadlines;
    }

    private static <T> Mono<T> watched(Deadlines deadlines, Mono<T> command) {
        return Mono.defer(() -> command.timeout(deadlines.turn()));
    }

    @Test
    void manyCommandsHaveOneVerdict() {
        VirtualTimeScheduler timer = VirtualTimeScheduler.create();
        Deadlines deadlines = opened(new Deadlines(
                Duration.ofMinutes(1), new SilenceClock(() -> timer.now(TimeUnit.NANOSECONDS), timer), Runnable::run));

        Flux.range(0, 100)
                .concatMap(i -> watched(deadlines, Mono.just(i)))
                .then()
                .block(LIMIT);

        assertThat(timer.getScheduledTaskCount()).as("the verdict and the beat").isEqualTo(2);
    }

    @Test
    void everyCommandThatIsNotAnsweredIsEndedThoughOthersComeAllTheTime() {
        Deadlines deadlines = opened(new Deadlines(Duration.ofMillis(10)));
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
        Deadlines deadlines = opened(new Deadlines(Duration.ofMillis(300)));
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
        Deadlines deadlines = opened(new Deadlines(Duration.ofSeconds(6)));
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
    @ValueSource(longs = {150, 400, 700, 2_100, 5_000, 60_000})
    void timeInWhichThisProcessGetsNoTurnIsNotTheDatabasesSilence(long pause) {
        VirtualTimeScheduler timer = VirtualTimeScheduler.create();
        AtomicLong paused = new AtomicLong();
        SilenceClock silenceClock = new SilenceClock(() -> timer.now(TimeUnit.NANOSECONDS) + paused.get(), timer);
        Deadlines deadlines = opened(new Deadlines(Duration.ofSeconds(2), silenceClock, Runnable::run));
        CompletableFuture<Object> silent =
                Mono.never().timeout(deadlines.turn()).toFuture();

        timer.advanceTimeBy(Duration.ofMillis(1_900));
        paused.addAndGet(Duration.ofMillis(pause).toNanos());
        timer.advanceTimeBy(Duration.ofMillis(300));
        assertThat(silent).as("an answer may lie unread").isNotDone();
        timer.advanceTimeBy(Duration.ofMillis(300));

        assertThat(silent).isCompletedExceptionally();
    }

    @Test
    void aCallIsTriedAgainAfterAPauseOfTheProcess() {
        VirtualTimeScheduler timer = VirtualTimeScheduler.create();
        AtomicLong paused = new AtomicLong();
        SilenceClock silenceClock = new SilenceClock(() -> timer.now(TimeUnit.NANOSECONDS) + paused.get(), timer);
        UserWork.Course course = new UserWork.Course(Duration.ofSeconds(2), silenceClock);
        Throwable startingUp = new R2dbcTransientResourceException("the database system is starting up", "57P03");

        timer.advanceTimeBy(Duration.ofSeconds(1));
        paused.addAndGet(Duration.ofSeconds(5).toNanos());
        assertThat(course.pauseAfter(startingUp).block(LIMIT)).isZero();
        timer.advanceTimeBy(Duration.ofSeconds(2));
        assertThatThrownBy(() -> course.pauseAfter(startingUp).block(LIMIT)).isEqualTo(startingUp);

        course.stopCounting();
        timer.advanceTimeBy(Duration.ofSeconds(1));
        long beats = timer.getScheduledTaskCount();
        timer.advanceTimeBy(Duration.ofSeconds(1));
        assertThat(timer.getScheduledTaskCount()).isEqualTo(beats);
    }

    @Test
    void theFirstAnswerHasTheTimeOfTheFirstConnection() {
        VirtualTimeScheduler timer = VirtualTimeScheduler.create();
        SilenceClock silenceClock = new SilenceClock(() -> timer.now(TimeUnit.NANOSECONDS), timer);
        Deadlines deadlines = new Deadlines(Duration.ofSeconds(2), silenceClock, Runnable::run);
        Deadlines.Turn first = deadlines.turn();
        CompletableFuture<Object> cold = Mono.never().timeout(first).toFuture();
        timer.advanceTimeBy(Duration.ofSeconds(1));
        deadlines.lent();
        first.begin();

        timer.advanceTimeBy(Duration.ofSeconds(6));
        assertThat(cold).isNotDone();
        timer.advanceTimeBy(Duration.ofSeconds(2));
        assertThat(cold).isCompletedExceptionally();

        deadlines.answered();
        Deadlines.Turn second = deadlines.turn();
        CompletableFuture<Object> warm = Mono.never().timeout(second).toFuture();
        second.begin();
        timer.advanceTimeBy(Duration.ofSeconds(3));
        assertThat(warm).isCompletedExceptionally();
    }

    /** Two pauses in the time of one command: the timer is late for neither of its own deadlines. */
    @Test
    void aCommandBegunInThePauseOfAnotherHasItsWholeTime() {
        VirtualTimeScheduler timer = VirtualTimeScheduler.create();
        AtomicLong paused = new AtomicLong();
        SilenceClock silenceClock = new SilenceClock(() -> timer.now(TimeUnit.NANOSECONDS) + paused.get(), timer);
        Deadlines deadlines = opened(new Deadlines(Duration.ofSeconds(2), silenceClock, Runnable::run));
        CompletableFuture<Object> first = Mono.never().timeout(deadlines.turn()).toFuture();
        timer.advanceTimeBy(Duration.ofSeconds(1));
        paused.addAndGet(Duration.ofMillis(800).toNanos());
        timer.advanceTimeBy(Duration.ofMillis(500));
        CompletableFuture<Object> second =
                Mono.never().timeout(deadlines.turn()).toFuture();
        paused.addAndGet(Duration.ofMillis(900).toNanos());

        timer.advanceTimeBy(Duration.ofMillis(900));
        assertThat(first).isNotDone();
        timer.advanceTimeBy(Duration.ofMillis(300));
        assertThat(first).isCompletedExceptionally();
        assertThat(second).isNotDone();
        timer.advanceTimeBy(Duration.ofMillis(2_500));
        assertThat(second).isCompletedExceptionally();
    }
}
