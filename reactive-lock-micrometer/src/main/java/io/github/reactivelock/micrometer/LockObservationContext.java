package io.github.reactivelock.micrometer;

import io.github.reactivelock.LockRequest;
import io.micrometer.common.KeyValue;
import io.micrometer.observation.Observation;

/**
 * What is known of a wait or a hold while it is observed, for handlers, filters and conventions of an application. What
 * comes to be known later is {@code none} or zero until then.
 */
public final class LockObservationContext extends Observation.Context {

    private final LockObservation observation;
    private final LockRequest request;
    private final String lock;
    private final String store;
    private final String kind;
    private volatile String outcome = KeyValue.NONE_VALUE;
    private volatile String reason = KeyValue.NONE_VALUE;
    private volatile long fencingToken;

    LockObservationContext(LockObservation observation, LockRequest request, String lock, String store, String kind) {
        this.observation = observation;
        this.request = request;
        this.lock = lock;
        this.store = store;
        this.kind = kind;
    }

    /** {@return which of the two is observed} */
    public LockObservation observation() {
        return observation;
    }

    /** {@return what was asked for, its key and its Reactor Context among it} */
    public LockRequest request() {
        return request;
    }

    /** {@return what the lock is called, see {@link LockObservations#withName}} */
    public String lock() {
        return lock;
    }

    /** {@return what the store is called, see {@link LockObservations#withStore}} */
    public String store() {
        return store;
    }

    /** {@return who asked, see {@link LockObservation.Keys#KIND}} */
    public String kind() {
        return kind;
    }

    /** {@return how it ended, see {@link LockObservation.Keys#OUTCOME}} */
    public String outcome() {
        return outcome;
    }

    /** {@return why the hold was lost, see {@link LockObservation.Keys#REASON}} */
    public String reason() {
        return reason;
    }

    /** {@return the hold's token, zero before there is one} */
    public long fencingToken() {
        return fencingToken;
    }

    void outcome(String outcome) {
        this.outcome = outcome;
    }

    void reason(String reason) {
        this.reason = reason;
    }

    void fencingToken(long fencingToken) {
        this.fencingToken = fencingToken;
    }
}
