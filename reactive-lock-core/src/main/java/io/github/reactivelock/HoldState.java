package io.github.reactivelock;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How sure a hold is of its lock. A hold begins {@link Safe}, or {@link AtRisk} where it was passed on late; from there it
 * goes to and fro between the two; {@link Lost} is the end.
 */
public sealed interface HoldState {

    /** The store has confirmed the hold within the last half of its lease, and no renewal has failed since. */
    record Safe() implements HoldState {}

    /**
     * The hold goes on, but it may end soon: a renewal failed, or half of the lease has gone by since the last question that
     * the store confirmed. A good moment to begin nothing long, or to end early.
     *
     * @param remaining how long the holder may act if no renewal succeeds
     * @param cause why the last renewal failed; null if none did, because it is late or because the hold is not renewed
     */
    record AtRisk(Duration remaining, @Nullable Throwable cause) implements HoldState {}

    /**
     * The hold is over, and the lock may have another holder.
     *
     * @param loss which hold, and why
     */
    record Lost(LockLostException loss) implements HoldState {}
}
