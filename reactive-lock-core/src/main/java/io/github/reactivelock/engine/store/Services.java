package io.github.reactivelock.engine.store;

import io.github.reactivelock.engine.Settings;
import io.github.reactivelock.engine.time.Timing;
import io.github.reactivelock.engine.user.UserCallbacks;
import io.github.reactivelock.spi.LockBackend;
import java.util.concurrent.Executor;

/**
 * What all locks of one client have in common: the way to its store, its time, and the way to user code. Knows none of
 * them.
 */
public final class Services {

    public final LockBackend backend;
    public final Timing timing;
    public final UserCallbacks userCallbacks;
    /** Go on with what the threads of a driver or of a user began, and have nothing of theirs. */
    public final Executor others;

    public final Gate gate;
    public final Renewals renewals;
    public final Claims claims;
    public final int maxPasses;
    public final long maxPassing;

    public Services(Settings settings, Claims claims, Runnable onTick) {
        this.backend = settings.backend();
        this.timing = new Timing(settings, onTick);
        this.userCallbacks = new UserCallbacks(settings);
        this.others = settings.others();
        this.gate = new Gate(backend, timing, others);
        this.renewals = new Renewals(gate);
        this.claims = claims;
        this.maxPasses = settings.maxPasses();
        this.maxPassing = settings.maxPassing().toNanos();
    }
}
