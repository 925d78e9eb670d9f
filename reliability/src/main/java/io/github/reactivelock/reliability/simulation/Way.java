package io.github.reactivelock.reliability.simulation;

import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.Vote;

/** For how long what a machine and a site send each other is on its way. */
final class Way {

    private final World world;
    private final Wire.Manner manner;
    private final Wire.Witness witness;
    /** Nothing arrives before, in either direction. */
    private long silentUntil;

    private long pushesSilentUntil;
    /** By how much the next thing that leaves the store is late. */
    private long nextIsLate;

    Way(World world, Wire.Manner manner, Wire.Witness witness) {
        this.world = world;
        this.manner = manner;
        this.witness = witness;
    }

    void beSilent(long nanos) {
        silentUntil = Math.max(silentUntil, world.now() + nanos);
    }

    void pushLate(long nanos) {
        pushesSilentUntil = Math.max(pushesSilentUntil, world.now() + nanos);
    }

    void nextIsLate(long nanos) {
        nextIsLate = nanos;
    }

    long there() {
        long latency = manner.latency() / 2 + world.shortTime(2 * manner.latency());
        if (world.chance(manner.lateShare())) {
            latency += world.shortTime(manner.latest());
        }
        return Math.max(0, silentUntil - world.now()) + latency;
    }

    /** The witness may make a grant that is leaving late. */
    long back(Object answer) {
        if (isGrant(answer)) {
            witness.grants();
        }
        long late = nextIsLate;
        nextIsLate = 0;
        return late + there();
    }

    long backPushed(Signal signal) {
        long way = back(signal);
        return Math.max(0, pushesSilentUntil - world.now()) + way;
    }

    private static boolean isGrant(Object answer) {
        return answer instanceof Signal.Grant
                || answer instanceof ClaimResult.Granted
                || (answer instanceof Vote vote && vote.result() instanceof ClaimResult.Granted);
    }
}
