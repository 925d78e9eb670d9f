package io.github.reactivelock.engine.cohort;

import io.github.reactivelock.engine.claim.Phase;
import io.github.reactivelock.engine.flow.Waiter;
import io.github.reactivelock.spi.Claim;
import java.util.function.Consumer;

/** What a test of another room sees of an engine, and nothing else does. */
public final class EngineInside {

    private EngineInside() {}

    /** The claim that a flow would ask for. */
    public static Claim claimOf(Engine engine, Waiter waiter) {
        return engine.claimOf(waiter);
    }

    /** Runs something in the middle of an event of the claim's key. */
    public static void inAnEventOf(Engine engine, String claimId, Consumer<Phase> event) {
        engine.tell(claimId, event);
    }
}
