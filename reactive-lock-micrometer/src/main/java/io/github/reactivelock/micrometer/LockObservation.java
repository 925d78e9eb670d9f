package io.github.reactivelock.micrometer;

import io.micrometer.common.docs.KeyName;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;
import io.micrometer.observation.docs.ObservationDocumentation;

/** What is observed of a lock: a timer each, and a span each where the application traces. */
public enum LockObservation implements ObservationDocumentation {

    /** A wait, from the subscription to the grant or to any other end. */
    ACQUIRE("reactive.lock.acquire"),

    /** A hold, from the grant to the answer to its release, or to its loss. */
    HOLD("reactive.lock.hold");

    private final String name;

    LockObservation(String name) {
        this.name = name;
    }

    @Override
    public String getName() {
        return name;
    }

    @Override
    public Class<? extends ObservationConvention<? extends Observation.Context>> getDefaultConvention() {
        return LockConvention.class;
    }

    @Override
    public KeyName[] getLowCardinalityKeyNames() {
        return this == HOLD ? Keys.values() : new KeyName[] {Keys.LOCK, Keys.STORE, Keys.KIND, Keys.OUTCOME};
    }

    @Override
    public KeyName[] getHighCardinalityKeyNames() {
        return TraceKeys.values();
    }

    @Override
    public Observation.Event[] getEvents() {
        return this == HOLD ? Events.values() : EMPTY_EVENT_NAMES;
    }

    /** What may happen to a hold while it goes on. */
    public enum Events implements Observation.Event {

        /** It may soon be lost; see {@link io.github.reactivelock.HoldState.AtRisk}. */
        AT_RISK("at.risk", "at risk"),

        /** It was at risk, and is so no more. */
        SAFE_AGAIN("safe.again", "safe again");

        private final String name;
        private final String words;

        Events(String name, String words) {
            this.name = name;
            this.words = words;
        }

        @Override
        public String getName() {
            return name;
        }

        @Override
        public String getContextualName() {
            return words;
        }
    }

    /** What metrics and traces have: few different values each. */
    public enum Keys implements KeyName {

        /** What the lock is called; see {@link LockObservations#withName}. */
        LOCK("lock"),

        /** What the store is called; see {@link LockObservations#withStore}. */
        STORE("store"),

        /** Who asks: {@code election} for candidates, which may wait and hold for ever; otherwise {@code lock}. */
        KIND("kind"),

        /**
         * How it ended. A wait: {@code acquired}, {@code busy}, {@code timed_out}, {@code cancelled},
         * {@code unavailable}, {@code client_closed}. A hold: {@code released}, {@code release_failed}, {@code lost}.
         * Before that {@code none}.
         */
        OUTCOME("outcome"),

        /**
         * Why a hold was lost: a {@link io.github.reactivelock.state.LossReason} in lower case; otherwise {@code none}.
         */
        REASON("reason");

        private final String name;

        Keys(String name) {
            this.name = name;
        }

        @Override
        public String asString() {
            return name;
        }
    }

    /** What only traces have: as many values as there are locks and holds. */
    public enum TraceKeys implements KeyName {

        /** The lock's key, as the user wrote it. */
        KEY("reactive.lock.key"),

        /** The hold's fencing token; {@code none} where there is none. */
        FENCING_TOKEN("reactive.lock.fencing.token");

        private final String name;

        TraceKeys(String name) {
            this.name = name;
        }

        @Override
        public String asString() {
            return name;
        }
    }
}
