package io.github.reactivelock.spi.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.test.scheduler.VirtualTimeScheduler;

class SilenceTest {

    private static final Duration STEP = Duration.ofMillis(10);

    private final VirtualTimeScheduler timer = VirtualTimeScheduler.create();
    private final AtomicLong clock = new AtomicLong();
    private final Silence silence = new Silence(new SilenceClock(clock::get, timer));
    private final AtomicLong verdicts = new AtomicLong();

    private void runFor(long millis) {
        for (long i = 0; i < millis; i += STEP.toMillis()) {
            clock.addAndGet(STEP.toNanos());
            timer.advanceTimeBy(STEP);
        }
    }

    private Disposable judgeAfter(long millis) {
        return silence.of(Duration.ofMillis(millis))
                .doOnSuccess(none -> verdicts.incrementAndGet())
                .subscribe();
    }

    @Test
    void itIsOverdueWhenNothingWasAnsweredForSoLong() {
        Disposable pending = judgeAfter(2_000);
        runFor(1_500);
        silence.answered();
        runFor(1_500);
        silence.answered();
        runFor(1_900);
        assertThat(verdicts).hasValue(0);

        runFor(300);
        assertThat(verdicts).hasValue(1);
        assertThat(pending.isDisposed()).isTrue();
    }

    @Test
    void itBeginsWithTheQuestionAndNotWithTheLastAnswer() {
        Disposable earlier = judgeAfter(60_000);
        runFor(10_000);
        Disposable pending = judgeAfter(2_000);
        runFor(1_900);
        assertThat(verdicts).hasValue(0);

        runFor(300);
        assertThat(verdicts).hasValue(1);
        assertThat(pending.isDisposed()).isTrue();
        earlier.dispose();
    }
}
