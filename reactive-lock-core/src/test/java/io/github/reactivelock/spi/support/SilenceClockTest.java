package io.github.reactivelock.spi.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.test.scheduler.VirtualTimeScheduler;

class SilenceClockTest {

    private static final Duration STEP = Duration.ofMillis(10);

    private final VirtualTimeScheduler timer = VirtualTimeScheduler.create();
    private final AtomicLong clock = new AtomicLong();
    private final SilenceClock silenceClock = new SilenceClock(clock::get, timer);
    private final AtomicLong verdicts = new AtomicLong();

    /** Time in which the process gets its turns. */
    private void runFor(long millis) {
        for (long i = 0; i < millis; i += STEP.toMillis()) {
            clock.addAndGet(STEP.toNanos());
            timer.advanceTimeBy(STEP);
        }
    }

    /** Time in which it gets none; at its end it runs what was due next, once. */
    private void pauseFor(long millis) {
        clock.addAndGet(Duration.ofMillis(millis).toNanos());
        timer.advanceTimeBy(Duration.ofMillis(50));
    }

    private Disposable judgeAfter(long millis) {
        return silenceClock.after(Duration.ofMillis(millis), verdicts::incrementAndGet);
    }

    @Test
    void silenceIsJudgedAfterItsLimit() {
        Disposable unused = judgeAfter(2_000);
        runFor(1_990);
        assertThat(verdicts).hasValue(0);
        runFor(20);
        assertThat(verdicts).hasValue(1);
    }

    @Test
    void aPauseOfTheProcessIsNotTheSilenceOfOthers() {
        Disposable unused = judgeAfter(2_000);
        runFor(1_000);
        pauseFor(60_000);
        runFor(800);
        assertThat(verdicts).hasValue(0);
        runFor(1_000);
        assertThat(verdicts).hasValue(1);
    }

    @Test
    void aPauseJustBeforeTheLimitLeavesAMomentForUnreadAnswers() {
        Disposable unused = judgeAfter(2_000);
        runFor(1_950);
        pauseFor(5_000);
        assertThat(verdicts).as("on waking").hasValue(0);
        runFor(200);
        assertThat(verdicts).as("a moment later").hasValue(0);
        runFor(300);
        assertThat(verdicts).hasValue(1);
    }

    @Test
    void whereEachTurnIsLateSilenceIsNoticedToo() {
        Disposable unused = judgeAfter(2_000);
        for (int i = 0; i < 100 && verdicts.get() == 0; i++) {
            pauseFor(1_000);
        }
        assertThat(verdicts).hasValue(1);
    }

    @Test
    void aVerdictThatIsTakenBackIsNotGiven() {
        judgeAfter(2_000).dispose();
        runFor(5_000);
        assertThat(verdicts).hasValue(0);
    }

    @Test
    void noBeatIsLeftBehindTheLastVerdict() {
        Disposable unused = judgeAfter(100);
        runFor(1_000);
        long scheduled = timer.getScheduledTaskCount();
        runFor(1_000);
        assertThat(timer.getScheduledTaskCount()).isEqualTo(scheduled);
    }
}
