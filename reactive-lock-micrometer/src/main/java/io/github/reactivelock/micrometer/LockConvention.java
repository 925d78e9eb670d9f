package io.github.reactivelock.micrometer;

import io.github.reactivelock.micrometer.LockObservation.Keys;
import io.github.reactivelock.micrometer.LockObservation.TraceKeys;
import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;
import java.util.Locale;

/**
 * The names and tags that {@link LockObservation} promises. A GlobalObservationConvention of the application comes
 * first.
 */
final class LockConvention implements ObservationConvention<LockObservationContext> {

    private static final LockConvention ACQUIRE = new LockConvention(LockObservation.ACQUIRE);
    private static final LockConvention HOLD = new LockConvention(LockObservation.HOLD);

    private final LockObservation observation;

    private LockConvention(LockObservation observation) {
        this.observation = observation;
    }

    static LockConvention of(LockObservation observation) {
        return observation == LockObservation.HOLD ? HOLD : ACQUIRE;
    }

    @Override
    public boolean supportsContext(Observation.Context context) {
        return context instanceof LockObservationContext;
    }

    @Override
    public String getName() {
        return observation.getName();
    }

    /** As OpenTelemetry names spans: what is done, then to what, with few values. */
    @Override
    public String getContextualName(LockObservationContext context) {
        return observation.name().toLowerCase(Locale.ROOT) + " " + context.lock();
    }

    @Override
    public KeyValues getLowCardinalityKeyValues(LockObservationContext context) {
        KeyValues tags = KeyValues.of(
                KeyValue.of(Keys.LOCK, context.lock()),
                KeyValue.of(Keys.STORE, context.store()),
                KeyValue.of(Keys.KIND, context.kind()),
                KeyValue.of(Keys.OUTCOME, context.outcome()));
        return observation == LockObservation.HOLD ? tags.and(KeyValue.of(Keys.REASON, context.reason())) : tags;
    }

    @Override
    public KeyValues getHighCardinalityKeyValues(LockObservationContext context) {
        long token = context.fencingToken();
        return KeyValues.of(
                KeyValue.of(TraceKeys.KEY, context.request().key()),
                KeyValue.of(TraceKeys.FENCING_TOKEN, token == 0 ? KeyValue.NONE_VALUE : Long.toString(token)));
    }
}
