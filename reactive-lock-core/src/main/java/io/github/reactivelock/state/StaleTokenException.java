package io.github.reactivelock.state;

/** A resource refused a write, because it has already seen a newer fencing token: the writer lost its lock. */
public final class StaleTokenException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** Token of the refused write. */
    private final long fencingToken;
    /** What the resource has seen. */
    private final long newestSeen;

    /**
     * A refusal.
     *
     * @param resource what was to be written, as a reader of the message knows it
     * @param fencingToken the token of the refused write
     * @param newestSeen the token that the resource has seen
     */
    public StaleTokenException(String resource, long fencingToken, long newestSeen) {
        super("write to " + resource + " refused: its fencing token " + fencingToken + " is older than " + newestSeen
                + ", which was seen there already; the lock was lost, so acquire it again and begin anew");
        this.fencingToken = fencingToken;
        this.newestSeen = newestSeen;
    }

    /**
     * The token of the refused write.
     *
     * @return as it was given
     */
    public long fencingToken() {
        return fencingToken;
    }

    /**
     * The newest token that the resource has seen.
     *
     * @return higher than {@link #fencingToken()}
     */
    public long newestSeen() {
        return newestSeen;
    }
}
