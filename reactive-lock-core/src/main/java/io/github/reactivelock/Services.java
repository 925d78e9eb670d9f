package io.github.reactivelock;

import io.github.reactivelock.spi.LockBackend;

/**
 * What all locks of one client have in common: the way to its store, its time, and the way to user code. Knows none of
 * them.
 */
final class Services {

    final LockBackend backend;
    final Timing timing;
    final UserCallbacks userCallbacks;
    final Gate gate;
    final Renewals renewals;
    final Claims claims;
    final int maxPasses;
    final long maxPassing;

    Services(Settings settings, Claims claims, Runnable onTick) {
        this.backend = settings.backend();
        this.timing = new Timing(settings, onTick);
        this.userCallbacks = new UserCallbacks(settings);
        this.gate = new Gate(backend, timing);
        this.renewals = new Renewals(gate);
        this.claims = claims;
        this.maxPasses = settings.maxPasses();
        this.maxPassing = settings.maxPassing().toNanos();
    }
}
