package io.github.reactivelock.spi.support;

import org.crac.CheckpointException;
import org.crac.Context;
import org.crac.Core;
import org.crac.Resource;

/** What {@code org.crac} tells of checkpoints. Loaded only where that is on the class path. */
final class CracCheckpoints implements Resource {

    /** Held here, because a context of {@code org.crac} forgets what it alone knows. */
    private static final CracCheckpoints OF_THIS_PROCESS = new CracCheckpoints();

    private CracCheckpoints() {}

    static void register() {
        register(Core.getGlobalContext());
    }

    static void register(Context<Resource> context) {
        context.register(OF_THIS_PROCESS);
    }

    @Override
    public void beforeCheckpoint(Context<? extends Resource> context) throws CheckpointException {
        try {
            Snapshots.begin();
        } catch (IllegalStateException refusal) {
            throw refused(refusal);
        }
    }

    private static CheckpointException refused(IllegalStateException refusal) {
        CheckpointException refused = new CheckpointException(refusal.getMessage());
        refused.initCause(refusal);
        return refused;
    }

    @Override
    public void afterRestore(Context<? extends Resource> context) {
        Snapshots.end();
    }
}
