package io.github.reactivelock.state;

/** Why a hold ended before it was released. */
public enum LossReason {
    /** The lease ran out, or the store no longer knows of the hold. */
    EXPIRED("its lease ran out or the store forgot it"),
    /** The store shows another owner. */
    TAKEN_OVER("another claim owns it now"),
    /** An operator released it by force. */
    FORCED("it was released by force"),
    /** No renewal was answered in time. */
    UNREACHABLE("the store did not answer a renewal in time"),
    /** The session that the hold belonged to ended at the store. */
    SESSION_LOST("its session ended at the store"),
    /** The work went on for longer than the longest hold allowed. */
    HELD_TOO_LONG("it was held for longer than maxHold allows"),
    /** The hold had been released when something was asked of it. */
    RELEASED("it had been released before"),
    /** The client was closed while the lock was held. */
    CLIENT_CLOSED("its client was closed");

    private final String text;

    LossReason(String text) {
        this.text = text;
    }

    /**
     * The reason in words, to follow "was lost: ".
     *
     * @return a clause without a full stop
     */
    public String text() {
        return text;
    }
}
