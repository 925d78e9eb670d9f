package io.github.reactivelock.micrometer;

import io.github.reactivelock.HoldState;
import io.github.reactivelock.LockClientClosedException;
import io.github.reactivelock.LockException;
import io.github.reactivelock.LockListener;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockRequest;
import io.github.reactivelock.LockTimeoutException;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.election.LeaderElection;
import io.github.reactivelock.spi.support.RepeatedFailures;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Records what a client's locks do, as {@link LockObservation}s and {@link LockMeter}s. Give it to
 * {@link io.github.reactivelock.LockClientBuilder#listener}; several clients of one store may share one, and should,
 * because a gauge of a registry belongs to the first that registers it. Safe for use from any thread.
 *
 * <p>The parent of a wait's and of a hold's observation is the one in the Reactor Context of the flow that asked, where
 * instrumented code puts it. Both end with their outcome, so a trace shows how long a request waited and held, and for
 * what.
 *
 * <p>Metrics have names of locks and no keys, see {@link #withName}: names that come after the first
 * {@value NamedMeters#MOST_NAMES} all count as {@code other}, which is logged.
 */
public final class LockObservations implements LockListener {

    /** Where instrumented code keeps its observation in the Reactor Context: ObservationThreadLocalAccessor.KEY. */
    static final String PARENT = "micrometer.observation";

    private static final RepeatedFailures FAILURES = new RepeatedFailures(
            LoggerFactory.getLogger(LockObservations.class), "a handler of observations threw; it is ignored");

    private final MeterRegistry meters;
    private final ObservationRegistry observations;
    private final String store;
    private final UnaryOperator<String> name;
    private final NamedMeters locks;
    private final NamedMeters elections;
    private final Map<LockRequest, Watched> watched = new ConcurrentHashMap<>();

    private LockObservations(
            MeterRegistry meters, ObservationRegistry observations, String store, UnaryOperator<String> name) {
        this.meters = meters;
        this.observations = observations;
        this.store = store;
        this.name = name;
        this.locks = new NamedMeters(meters, store, "lock", name);
        this.elections = new NamedMeters(meters, store, "election", name);
    }

    /** A request between its first event and its last: what it counts for, and what is observed of it now. */
    private record Watched(LockMeters meters, Observation observation) {}

    /**
     * Metrics without traces: the observations become timers of the registry.
     *
     * @param meters where all of it is recorded
     * @return the listener
     */
    public static LockObservations of(MeterRegistry meters) {
        ObservationRegistry timers = ObservationRegistry.create();
        // How many there are now, gauges say for less.
        timers.observationConfig().observationHandler(new Timers(meters));
        return of(meters, timers);
    }

    /** Without counters for events, which {@link LockMeter} has where they are worth one. */
    private static final class Timers extends DefaultMeterObservationHandler {

        Timers(MeterRegistry meters) {
            super(meters, IgnoredMeters.LONG_TASK_TIMER);
        }

        @Override
        public void onEvent(Observation.Event event, Observation.Context context) {}
    }

    /**
     * Metrics, and all that the application makes of observations: timers, spans, logs. With Spring Boot both
     * registries are beans.
     *
     * @param meters where gauges and counters are recorded
     * @param observations where waits and holds are observed; nothing is observed by one that does nothing
     * @return the listener
     */
    public static LockObservations of(MeterRegistry meters, ObservationRegistry observations) {
        return new LockObservations(
                Objects.requireNonNull(meters, "meters"),
                Objects.requireNonNull(observations, "observations"),
                "none",
                NamedMeters::firstWord);
    }

    /**
     * Sets how a lock's name is made of its key. There must be few names, because metrics have a series for each.
     *
     * @param name is called once for each request and must be quick; by default what stands before the first {@code :},
     *     or the whole key
     * @return a listener of its own, to be used in place of this one
     */
    public LockObservations withName(UnaryOperator<String> name) {
        return new LockObservations(meters, observations, store, Objects.requireNonNull(name, "name"));
    }

    /**
     * Sets the name of the store, for an application that has several.
     *
     * @param store {@code none} if not called
     * @return a listener of its own, to be used in place of this one
     */
    public LockObservations withStore(String store) {
        return new LockObservations(meters, observations, Objects.requireNonNull(store, "store"), name);
    }

    // ---- a wait

    @Override
    public void waiting(LockRequest request) {
        LockMeters of = (LeaderElection.isCandidate(request) ? elections : locks).of(request.key());
        Observation acquire = observe(LockObservation.ACQUIRE, request, of);
        Observation parent = request.context().getOrDefault(PARENT, null);
        if (parent != null) {
            acquire.parentObservation(parent);
        }
        watched.put(request, new Watched(of, acquire));
        of.waiting.incrementAndGet();
        acquire.start();
    }

    @Override
    public void passed(LockRequest request, long fencingToken) {
        Watched wait = watched.get(request);
        if (wait != null) {
            wait.meters.passed.increment();
        }
    }

    @Override
    public void retentionHit(LockRequest request) {
        Watched wait = watched.get(request);
        if (wait != null) {
            wait.meters.retentionHit.increment();
        }
    }

    @Override
    public void retentionMissed(LockRequest request) {
        Watched wait = watched.get(request);
        if (wait != null) {
            wait.meters.retentionMissed.increment();
        }
    }

    /** Of no request; candidates of an election keep nothing. */
    @Override
    public void recalled(String key) {
        locks.of(key).recalled.increment();
    }

    @Override
    public void acquired(LockRequest request, long fencingToken, Duration waited) {
        Watched wait = stopWaiting(request, "acquired", null);
        if (wait != null) {
            Observation hold = observe(LockObservation.HOLD, request, wait.meters);
            // Always set: what is current on this thread may be another flow's.
            hold.parentObservation(parentOf(wait.observation));
            if (hold.getContext() instanceof LockObservationContext context) {
                context.fencingToken(fencingToken);
            }
            watched.put(request, new Watched(wait.meters, hold));
            wait.meters.held.incrementAndGet();
            hold.start();
        }
    }

    @Override
    public void busy(LockRequest request) {
        stopWaiting(request, "busy", null);
    }

    @Override
    public void cancelled(LockRequest request) {
        stopWaiting(request, "cancelled", null);
    }

    @Override
    public void timedOut(LockRequest request, LockTimeoutException timeout) {
        Watched wait = stopWaiting(request, "timed_out", timeout);
        if (wait != null) {
            wait.meters.timeout.increment();
        }
    }

    @Override
    public void unavailable(LockRequest request, LockException failure) {
        boolean isClosed = failure instanceof LockClientClosedException;
        stopWaiting(request, isClosed ? "client_closed" : "unavailable", failure);
    }

    // ---- a hold

    @Override
    public void renewalFailed(LockRequest request, long fencingToken, Throwable cause) {
        Watched hold = watched.get(request);
        if (hold != null) {
            hold.meters.renewalFailed.increment();
        }
    }

    @Override
    public void atRisk(LockRequest request, long fencingToken, HoldState.AtRisk risk) {
        Watched hold = watched.get(request);
        if (hold != null) {
            hold.meters.atRisk.increment();
            hold.observation.event(LockObservation.Events.AT_RISK);
        }
    }

    @Override
    public void safeAgain(LockRequest request, long fencingToken) {
        Watched hold = watched.get(request);
        if (hold != null) {
            hold.observation.event(LockObservation.Events.SAFE_AGAIN);
        }
    }

    @Override
    public void released(LockRequest request, long fencingToken, Duration held) {
        stopHolding(request, "released", null);
    }

    @Override
    public void lost(LockRequest request, LockLostException loss) {
        Watched hold = watched.get(request);
        if (hold != null && hold.observation.getContext() instanceof LockObservationContext context) {
            context.reason(LockMeters.word(loss.reason()));
        }
        if (stopHolding(request, "lost", loss) != null && hold != null) {
            hold.meters.lost(loss.reason());
        }
    }

    @Override
    public void releaseFailed(LockRequest request, LockUnavailableException failure) {
        Watched hold = stopHolding(request, "release_failed", failure);
        if (hold != null) {
            hold.meters.releaseFailed.increment();
        }
    }

    // ---- both

    private Observation observe(LockObservation kind, LockRequest request, LockMeters of) {
        if (observations.isNoop()) {
            return Observation.NOOP;
        }
        var context = new LockObservationContext(kind, request, of.lock, store, of.kind);
        return kind.observation(null, LockConvention.of(kind), () -> context, observations);
    }

    private @Nullable Watched stopWaiting(LockRequest request, String outcome, @Nullable Throwable failure) {
        Watched wait = stop(request, outcome, failure);
        if (wait != null) {
            wait.meters.waiting.decrementAndGet();
        }
        return wait;
    }

    private @Nullable Watched stopHolding(LockRequest request, String outcome, @Nullable Throwable failure) {
        Watched hold = stop(request, outcome, failure);
        if (hold != null) {
            hold.meters.held.decrementAndGet();
        }
        return hold;
    }

    private @Nullable Watched stop(LockRequest request, String outcome, @Nullable Throwable failure) {
        Watched ended = watched.remove(request);
        if (ended != null) {
            try {
                end(ended.observation, outcome, failure);
            } catch (Throwable thrown) { // of a handler of the application's; what is counted does not depend on it
                FAILURES.add(thrown);
            }
        }
        return ended;
    }

    private static void end(Observation observation, String outcome, @Nullable Throwable failure) {
        if (observation.getContext() instanceof LockObservationContext context) {
            context.outcome(outcome);
        }
        if (failure != null) {
            observation.error(failure);
        }
        observation.stop();
    }

    private static @Nullable Observation parentOf(Observation observation) {
        return observation.getContext().getParentObservation() instanceof Observation parent ? parent : null;
    }
}
