package io.github.reactivelock.examples.webflux.shop;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.springframework.stereotype.Component;

/** The meters of the locks, as numbers over all their tags. {@code /actuator/prometheus} has each one. */
@Component
final class LockMetrics {

    private static final String PREFIX = "reactive.lock.";

    private final MeterRegistry registry;

    LockMetrics(MeterRegistry registry) {
        this.registry = registry;
    }

    Map<String, Double> now() {
        Map<String, Double> sums = new TreeMap<>();
        for (Meter meter : registry.getMeters()) {
            String name = meter.getId().getName();
            if (name.startsWith(PREFIX)) {
                meter.use(
                        gauge -> add(sums, name, gauge.value()),
                        counter -> add(sums, name, counter.count()),
                        timer -> add(sums, name, timer),
                        summary -> {},
                        running -> {},
                        gauge -> add(sums, name, gauge.value(TimeUnit.SECONDS)),
                        counter -> add(sums, name, counter.count()),
                        timer -> {},
                        other -> {});
            }
        }
        return sums;
    }

    private static void add(Map<String, Double> sums, String name, Timer timer) {
        add(sums, name + ".count", (double) timer.count());
        add(sums, name + ".ms", timer.totalTime(TimeUnit.MILLISECONDS));
    }

    private static void add(Map<String, Double> sums, String name, double value) {
        sums.merge(name, value, Double::sum);
    }
}
