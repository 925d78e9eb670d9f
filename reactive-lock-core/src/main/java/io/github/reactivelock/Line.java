package io.github.reactivelock;

import org.jspecify.annotations.Nullable;

/**
 * All flows of a client that have to do with one key, whichever cohort they stand in. Their cohorts share this mailbox, so
 * that a lock can go from one to the next within one event.
 */
final class Line extends Mailbox {

    final Engine engine;

    /** Flows that keep this line in the engine's table; guarded by the table, as is the next. */
    int members;

    /** Where flows with {@link Fairness#COHORT} stand together. */
    @Nullable
    Cohort cohort;

    Line(Engine engine, String key) {
        super(key);
        this.engine = engine;
    }
}
