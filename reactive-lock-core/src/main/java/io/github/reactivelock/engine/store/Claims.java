package io.github.reactivelock.engine.store;

import io.github.reactivelock.spi.Claim;
import org.jspecify.annotations.Nullable;

/** The claims of a client that the store may know of. Safe for use from any thread. */
public interface Claims {

    /** Whether no flow of this client waits for a claim or has its grant. */
    boolean isLeft(Claim claim);

    /** Ends a claim at the store, however often that has to be said. */
    void withdraw(Claim claim);

    /** A claim is over, and the store never knew it or has forgotten it. */
    void forget(Claim claim);

    /** Why the store will push nothing, for as long as it refuses to. */
    @Nullable
    Throwable refusal();
}
