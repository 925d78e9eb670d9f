package io.github.reactivelock.engine.cohort;

import org.jspecify.annotations.NullMarked;

/** The deliveries of one key, as the races see them. */
@NullMarked
public final class DeliveriesInside {

    private final Deliveries deliveries;

    /** Those of a key of this engine. */
    public DeliveriesInside(Engine engine, String key) {
        deliveries = new KeyContext(engine, key);
    }

    /** On the thread of the one before, or on one of its own. */
    public void deliver(Runnable grant) {
        deliveries.deliver(grant);
    }
}
