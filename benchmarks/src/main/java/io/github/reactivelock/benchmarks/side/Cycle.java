package io.github.reactivelock.benchmarks.side;

import org.jspecify.annotations.Nullable;

/** Gets the events of one acquisition, on the contender's thread. */
public interface Cycle {

    /** The lock is held. The release follows at once. */
    void entered();

    /** The lock was given back, or the acquisition failed. */
    void ended(@Nullable Throwable failure);
}
