package io.github.reactivelock;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How sure a hold is of its lock. A hold begins {@link Safe}, or {@link AtRisk} where it was passed on late; from there
 * it goes to and fro between the two; {@link Lost} is the end, and so is a release, which is no state. A
 * {@link LockListener} gets the same changes as a subscriber of {@link LockHandle#states}.
 *
 * <p>A loss because the store did not confirm has about half a lease of {@link AtRisk} before it, or more; a third
 * where the hold was passed on late. After a pause of this process or of its machine both may come at the same moment.
 * A loss comes without it where it could not be known before: the store says that the hold is over (a forced release,
 * data that it lost, a session that ended), the hold was longer than {@link LockOptions#maxHold}, the client is closed,
 * or the store reports the loss only when the lock is released.
 */
public sealed interface HoldState {

    /** The store has confirmed the hold within the last half of its lease, and no renewal has failed since. */
    record Safe() implements HoldState {}

    /**
     * The hold goes on, but it may end soon: a renewal failed, or half of the lease has gone by since the last question
     * that the store confirmed. A good moment to begin nothing long, or to end early.
     *
     * @param remaining how long the holder may act from now on if no renewal succeeds
     * @param cause why the last renewal failed when the risk began; null if none did, because it is late or because the
     *     hold is not renewed
     */
    record AtRisk(Duration remaining, @Nullable Throwable cause) implements HoldState {}

    /**
     * The hold is over, and the lock may have another holder.
     *
     * @param loss which hold, and why
     */
    record Lost(LockLostException loss) implements HoldState {}
}
