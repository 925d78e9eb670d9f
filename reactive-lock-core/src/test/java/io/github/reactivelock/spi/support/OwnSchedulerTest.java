package io.github.reactivelock.spi.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;

class OwnSchedulerTest {

    /** As when a client is closed whose pool would have looked at its connections minutes later. */
    @Test
    void itsThreadEndsSoonAfterItsLastTaskIsDisposedOf() throws InterruptedException {
        Thread[] made = new Thread[1];
        Scheduler scheduler = OwnScheduler.on(task -> made[0] = new Thread(task, "timer of a test"));
        Disposable later = scheduler.schedule(() -> {}, 1, TimeUnit.HOURS);
        Disposable muchLater = scheduler.schedulePeriodically(() -> {}, 2, 2, TimeUnit.HOURS);

        later.dispose();
        muchLater.dispose();

        made[0].join(TimeUnit.MINUTES.toMillis(1));
        assertThat(made[0].isAlive()).isFalse();
    }
}
