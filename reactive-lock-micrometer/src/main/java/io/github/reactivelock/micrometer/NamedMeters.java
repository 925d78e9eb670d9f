package io.github.reactivelock.micrometer;

import io.micrometer.core.instrument.MeterRegistry;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The meters of each name of locks of one kind; there are few names. */
final class NamedMeters {

    private static final Logger log = LoggerFactory.getLogger(LockObservations.class);

    /** Enough for every kind of lock that a person told apart, and too few to fill a metrics store with keys. */
    static final int MOST_NAMES = 100;

    private static final String OTHER = "other";

    private final MeterRegistry meters;
    private final String store;
    private final String kind;
    private final UnaryOperator<String> name;
    private final Map<String, LockMeters> byName = new ConcurrentHashMap<>();
    private final AtomicBoolean hasWarned = new AtomicBoolean();

    NamedMeters(MeterRegistry meters, String store, String kind, UnaryOperator<String> name) {
        this.meters = meters;
        this.store = store;
        this.kind = kind;
        this.name = name;
    }

    static String firstWord(String key) {
        int end = key.indexOf(':');
        return end < 0 ? key : key.substring(0, end);
    }

    LockMeters of(String key) {
        String lock = name.apply(key);
        LockMeters known = byName.get(lock);
        if (known != null) {
            return known;
        }
        if (byName.size() >= MOST_NAMES) {
            if (hasWarned.compareAndSet(false, true)) {
                log.warn(
                        "more than {} names of locks; metrics count '{}' and all later ones as '{}'. Keys that have no ':'"
                                + " need a name of their own: see LockObservations.withName",
                        MOST_NAMES,
                        lock,
                        OTHER);
            }
            lock = OTHER;
        }
        return byName.computeIfAbsent(lock, made -> new LockMeters(meters, made, store, kind));
    }
}
