package io.github.reactivelock.benchmarks;

import org.jspecify.annotations.Nullable;

/** Hears how one acquisition goes, on whichever thread the contender brings the news. */
interface Cycle {

    /** The lock is held. The release follows at once. */
    void entered();

    /** The lock was given back, or could not be had. */
    void ended(@Nullable Throwable failure);
}
