package io.github.reactivelock.micrometer;

import io.github.reactivelock.micrometer.LockObservation.Keys;
import io.micrometer.common.docs.KeyName;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.docs.MeterDocumentation;

/**
 * What is counted of a lock besides its {@link LockObservation}s. Each meter is there from the first time that a lock's
 * name is seen, with zero, so that the first increase shows.
 */
public enum LockMeter implements MeterDocumentation {

    /** Flows that wait now. */
    WAITING("reactive.lock.waiting", "flows that wait for a lock", Meter.Type.GAUGE),

    /** Flows that hold a lock now. */
    HELD("reactive.lock.held", "flows that hold a lock", Meter.Type.GAUGE),

    /** Holds that ended without a release, by the reason. */
    LOST("reactive.lock.lost", "holds that were lost", Meter.Type.COUNTER),

    /** Waits that ended with their wait timeout. */
    TIMEOUT("reactive.lock.timeout", "waits that timed out", Meter.Type.COUNTER),

    /** Holds that came near their loss; one hold may do so several times. */
    AT_RISK("reactive.lock.at.risk", "times a hold came near its loss", Meter.Type.COUNTER),

    /** Renewals that failed; each is tried again until the hold's deadline. */
    RENEWAL_FAILED("reactive.lock.renewal.failed", "renewals that failed", Meter.Type.COUNTER),

    /** Releases that the store did not confirm; they are repeated, and at worst the lease runs out. */
    RELEASE_FAILED("reactive.lock.release.failed", "releases that were not confirmed", Meter.Type.COUNTER),

    /** Grants that one flow of the client left to the next, without a question to the store. */
    PASSED("reactive.lock.passed", "grants that were passed on in the process", Meter.Type.COUNTER),

    /** Flows that got a lock which the client had kept; they count as passed too. */
    RETENTION_HIT("reactive.lock.retention.hit", "grants of a lock that was kept", Meter.Type.COUNTER),

    /** Questions to the store for a lock that may be kept and was not. */
    RETENTION_MISSED("reactive.lock.retention.missed", "questions for a lock that was not kept", Meter.Type.COUNTER),

    /** Grants that another client called back, also while a flow was in. */
    RECALLED("reactive.lock.recalled", "grants that another client called back", Meter.Type.COUNTER);

    private final String name;
    private final String description;
    private final Meter.Type type;

    LockMeter(String name, String description, Meter.Type type) {
        this.name = name;
        this.description = description;
        this.type = type;
    }

    @Override
    public String getName() {
        return name;
    }

    @Override
    public Meter.Type getType() {
        return type;
    }

    @Override
    public KeyName[] getKeyNames() {
        return this == LOST
                ? new KeyName[] {Keys.LOCK, Keys.STORE, Keys.KIND, Keys.REASON}
                : new KeyName[] {Keys.LOCK, Keys.STORE, Keys.KIND};
    }

    String description() {
        return description;
    }
}
