package io.github.reactivelock;

import io.github.reactivelock.engine.time.Timing;

import io.github.reactivelock.engine.user.UserCallbacks;

import io.github.reactivelock.engine.Settings;

import io.github.reactivelock.spi.LockBackend;
import java.util.concurrent.Executor;

/**
 * What all locks of one client have in common: the way to its store, its time, and the way to user code. Knows none of
 * them.
 */
public final class Services {

    final LockBackend backend;
    public final Timing timing;
    final UserCallbacks userCallbacks;
    /** Go on with what the threads of a driver or of a user began, and have nothing of theirs. */
    final Executor others;

    final Gate gate;
    final Renewals renewals;
    final Claims claims;
    final int maxPasses;
    final long maxPassing;

    Services(Settings settings, Claims claims, Runnable onTick) {
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
