package io.github.reactivelock.engine.hold;

import io.github.reactivelock.LockLostException;
import io.github.reactivelock.engine.claim.Grant;
import io.github.reactivelock.engine.claim.Phase;
import io.github.reactivelock.engine.user.Mailbox;

/** Who gave the lock to a flow and gets it back. Called inside its key's events, but for {@link #post}. */
public interface HoldOwner {

    /** Whose turn it is. */
    interface Flow {
        /** Called on a thread for user code. */
        void tellAndGrant(Handle handle);
    }

    void post(Mailbox.Event event);

    /** Has the ticks look at it again. */
    void stir();

    /** False once the hold is over. */
    boolean isIn(Phase asked);

    /** All of its handles have left. */
    void released(Hold released);

    /** Another process wants the lock. */
    void recalled(Grant wanted);

    void lose(Hold ended, LockLostException loss);

    /** Tells a flow that its release is done; on any thread. */
    void conclude(Runnable end);
}
