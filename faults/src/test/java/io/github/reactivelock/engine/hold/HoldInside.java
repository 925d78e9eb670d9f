package io.github.reactivelock.engine.hold;

import io.github.reactivelock.state.LossReason;
import org.jspecify.annotations.NullMarked;

/** What the races see of a hold, and nothing else does. */
@NullMarked
public final class HoldInside {

    private HoldInside() {}

    /** It is lost within its lease. */
    public static void lose(Hold hold, LossReason reason) {
        hold.lose(reason);
    }
}
