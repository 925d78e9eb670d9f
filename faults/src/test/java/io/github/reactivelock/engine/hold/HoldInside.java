package io.github.reactivelock.engine.hold;

import io.github.reactivelock.state.LossReason;
import org.jspecify.annotations.NullMarked;

/** What the races see of a hold, and nothing else does. */
@NullMarked
public final class HoldInside {

    private HoldInside() {}

    /** Ends it within its lease. */
    public static void end(Hold hold, LossReason reason) {
        hold.end(reason);
    }
}
