package io.github.reactivelock.engine.time;

/**
 * Something that the tick of a client looks at, and until when it need not. A client may hold a million locks of which
 * hardly any needs anything, and to follow the references of each at every tick would cost more than to renew them; so
 * the answer is one field, in the object that the tick has in its hand anyway. Written only inside the events of a key,
 * so that what happens last says it last; looked at by the tick on its own thread.
 */
public abstract class Watched {

    private final Timing timing;
    private volatile long quietUntil;

    public Watched(Timing timing) {
        this.timing = timing;
        this.quietUntil = timing.now();
    }

    /** Whether a tick may find something to do. */
    public final boolean isDue(long now) {
        return now - quietUntil >= 0;
    }

    /** Something has begun that ticks have to look at. */
    public final void stir() {
        quietUntil = timing.now();
    }

    /** A tick has seen to everything, and there is nothing more to do until then. */
    public final void rest(long until) {
        quietUntil = until;
    }
}
