package io.github.reactivelock.examples.webflux.shop;

import io.github.reactivelock.micrometer.LockMeter;
import io.github.reactivelock.micrometer.LockObservation;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.Collection;
import java.util.concurrent.TimeUnit;

/**
 * What the metrics of a till say of all its locks.
 *
 * @param acquired how often it got a lock
 * @param waitMillis how long that took, on average
 * @param holdMillis how long a hold lasted, on average
 * @param passed how many of them one order left to the next of this till
 * @param atRisk how often a hold came near its loss
 * @param lost how many holds were lost
 */
public record Numbers(long acquired, double waitMillis, double holdMillis, long passed, long atRisk, long lost) {

    /** Of a till that has done nothing. */
    public static final Numbers NONE = new Numbers(0, 0, 0, 0, 0, 0);

    static Numbers of(MeterRegistry meters) {
        Collection<Timer> waits = meters.find(LockObservation.ACQUIRE.getName())
                .tag(LockObservation.Keys.OUTCOME.asString(), "acquired")
                .timers();
        Collection<Timer> holds =
                meters.find(LockObservation.HOLD.getName()).timers();
        return new Numbers(
                waits.stream().mapToLong(Timer::count).sum(),
                mean(waits),
                mean(holds),
                count(meters, LockMeter.PASSED),
                count(meters, LockMeter.AT_RISK),
                count(meters, LockMeter.LOST));
    }

    private static double mean(Collection<Timer> timers) {
        long count = timers.stream().mapToLong(Timer::count).sum();
        double millis = timers.stream()
                .mapToDouble(timer -> timer.totalTime(TimeUnit.MILLISECONDS))
                .sum();
        return count == 0 ? 0 : millis / count;
    }

    private static long count(MeterRegistry meters, LockMeter meter) {
        return (long) meters.find(meter.getName()).counters().stream()
                .mapToDouble(Counter::count)
                .sum();
    }
}
