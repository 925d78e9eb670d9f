package io.github.reactivelock.micrometer;

import io.github.reactivelock.micrometer.LockObservation.Keys;
import io.github.reactivelock.state.LossReason;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** The meters of all locks that have one name. */
final class LockMeters {

    final String lock;
    final String kind;
    final AtomicInteger waiting = new AtomicInteger();
    final AtomicInteger held = new AtomicInteger();
    final Counter timeout;
    final Counter atRisk;
    final Counter renewalFailed;
    final Counter releaseFailed;
    final Counter passed;
    final Counter retentionHit;
    final Counter retentionMissed;
    final Counter recalled;
    private final Map<LossReason, Counter> lost = new EnumMap<>(LossReason.class);

    LockMeters(MeterRegistry registry, String lock, String store, String kind) {
        this.lock = lock;
        this.kind = kind;
        Tags tags = Tags.of(Keys.LOCK.asString(), lock, Keys.STORE.asString(), store, Keys.KIND.asString(), kind);
        gauge(registry, LockMeter.WAITING, waiting, tags);
        gauge(registry, LockMeter.HELD, held, tags);
        this.timeout = counter(registry, LockMeter.TIMEOUT, tags);
        this.atRisk = counter(registry, LockMeter.AT_RISK, tags);
        this.renewalFailed = counter(registry, LockMeter.RENEWAL_FAILED, tags);
        this.releaseFailed = counter(registry, LockMeter.RELEASE_FAILED, tags);
        this.passed = counter(registry, LockMeter.PASSED, tags);
        this.retentionHit = counter(registry, LockMeter.RETENTION_HIT, tags);
        this.retentionMissed = counter(registry, LockMeter.RETENTION_MISSED, tags);
        this.recalled = counter(registry, LockMeter.RECALLED, tags);
        for (LossReason reason : LossReason.values()) {
            lost.put(reason, counter(registry, LockMeter.LOST, tags.and(Keys.REASON.asString(), word(reason))));
        }
    }

    static String word(LossReason reason) {
        return reason.name().toLowerCase(Locale.ROOT);
    }

    void lost(LossReason reason) {
        Counter counter = lost.get(reason);
        if (counter != null) {
            counter.increment();
        }
    }

    private static void gauge(MeterRegistry registry, LockMeter meter, AtomicInteger value, Tags tags) {
        Gauge.builder(meter.getName(), value, AtomicInteger::get)
                .description(meter.description())
                .tags(tags)
                .strongReference(true)
                .register(registry);
    }

    private static Counter counter(MeterRegistry registry, LockMeter meter, Tags tags) {
        return Counter.builder(meter.getName())
                .description(meter.description())
                .tags(tags)
                .register(registry);
    }
}
