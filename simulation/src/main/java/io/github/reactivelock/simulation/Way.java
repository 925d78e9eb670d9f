package io.github.reactivelock.simulation;

import io.github.reactivelock.simulation.Fault.Moment;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.Vote;

/** For how long what a machine and a site send each other is on its way. */
final class Way {

    private final World world;
    private final Manner manner;
    private final Wire.Witness witness;
    /** Nothing arrives before, in either direction. */
    private long silentUntil;

    private long pushesSilentUntil;
    /** By how much the next thing that leaves the store is late. */
    private long nextIsLate;

    Way(World world, Manner manner, Wire.Witness witness) {
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
            latency += manner.dawdles() ? world.anyTime(manner.latest()) : world.shortTime(manner.latest());
        }
        return Math.max(0, silentUntil - world.now()) + latency;
    }

    /** The witness may make late what is leaving. */
    long back(Object answer) {
        Moment moment = moment(answer);
        if (moment != Moment.ANY) {
            witness.leaves(moment);
        }
        long late = nextIsLate;
        nextIsLate = 0;
        return late + there();
    }

    long backPushed(Object pushed) {
        long way = back(pushed);
        return Math.max(0, pushesSilentUntil - world.now()) + way;
    }

    private static Moment moment(Object answer) {
        Object said = answer instanceof Vote vote ? vote.result() : answer;
        if (said instanceof Signal.Grant || said instanceof ClaimResult.Granted) {
            return Moment.GRANT;
        }
        if (said instanceof ClaimResult.Queued) {
            return Moment.QUEUED;
        }
        if (said instanceof RenewalResult) {
            return Moment.RENEWAL;
        }
        return said instanceof Boolean ? Moment.RELEASE : Moment.ANY;
    }
}
