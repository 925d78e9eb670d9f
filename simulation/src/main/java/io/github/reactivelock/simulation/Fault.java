package io.github.reactivelock.simulation;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Something that breaks.
 *
 * @param at since the beginning
 * @param kind what
 * @param machine whose, where it is somebody's
 * @param site whose, where it is a server's
 * @param length for how long, or by how much
 * @param aim what it waits for to leave a store then; it hits the machine for which that is
 * @param then what breaks after it, so long after it as that one's {@code at} says: of the same, if it is not aimed
 */
record Fault(
        Duration at,
        Kind kind,
        int machine,
        int site,
        Duration length,
        Moment aim,
        @Nullable Fault then) {

    /** What leaves a store. */
    enum Moment {
        /** Nothing is waited for. */
        ANY,
        GRANT,
        /** The answer to a claim that waits. */
        QUEUED,
        /** The answer to a renewal. */
        RENEWAL,
        /** The answer to a release. */
        RELEASE
    }

    enum Kind {
        /** A process stands still. */
        PAUSE,
        /** Its machine does, and its monotonic clock too. */
        SUSPEND,
        /** Its connection for questions breaks. */
        CUT,
        /** Its connection for pushes breaks. */
        CUT_PUSHES,
        /** Its timers are late, and its other threads are not. */
        STALL,
        /** Both break. */
        CUT_BOTH,
        /** Nothing arrives, and nothing breaks. */
        SILENCE,
        /**
         * Both are forgotten on their way: nothing goes over them any more, until the driver leaves them for new ones.
         */
        FORGET,
        /** Only pushes are late. */
        LATE_PUSHES,
        /** An answer or a push is late, alone where the driver keeps no order. */
        LATE_GRANT,
        /** A client is closed. */
        CLOSE,
        /** An operator releases a lock by force. */
        FORCE,
        /** The server restarts: everybody is cut off, and nothing is lost. */
        RESTART,
        /** The server restarts and has lost everything, or what is younger than the length. */
        LOSE,
        /** The server's clock is set ahead. */
        JUMP,
        /** The server refuses one claim of a machine, as it does one that is not permitted. */
        REFUSE,
        /** The server's memory is full: it takes no claim, or what its script may still write; what is held goes on. */
        FULL,
        /** What is pushed is lost, and no connection breaks: a ring of a database, whose ringer does not learn that. */
        LOSE_PUSHES;

        /** Whether holds suffer from it. */
        boolean breaksHolds() {
            return this != REFUSE && this != FULL && this != LOSE_PUSHES;
        }
    }

    Fault atTheFirstSite() {
        return new Fault(at, kind, machine, 0, length, aim, then == null ? null : then.atTheFirstSite());
    }

    long atNanos() {
        return at.toNanos();
    }

    @Override
    public String toString() {
        return String.format(
                "%.3f s: %s, %s, site %d, %d ms%s",
                at.toNanos() / 1e9,
                kind,
                aim == Moment.ANY ? "machine " + machine : "the machine with the next " + aim,
                site,
                length.toMillis(),
                then == null ? "" : ", and then after " + then);
    }
}
