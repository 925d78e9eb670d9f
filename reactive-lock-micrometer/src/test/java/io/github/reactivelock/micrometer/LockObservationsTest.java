package io.github.reactivelock.micrometer;

import static io.micrometer.observation.tck.TestObservationRegistryAssert.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.HoldState;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.micrometer.Locks.Request;
import io.github.reactivelock.testkit.FaultyBackend;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.contextpropagation.ObservationThreadLocalAccessor;
import io.micrometer.observation.tck.TestObservationRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

/** What is observed of waits and holds. */
class LockObservationsTest {

    private final TestObservationRegistry registry = TestObservationRegistry.create();
    private final LockObservations listener = LockObservations.of(new SimpleMeterRegistry(), registry);

    @Test
    void waitsAndHoldsHaveNamesInMetricsAndKeysOnlyInTraces() {
        try (Locks locks = new Locks(listener.withStore("redis"))) {
            LockHandle held = locks.acquire("order:42");
            String token = Long.toString(held.fencingToken());
            Locks.get(held.release());

            assertThat(registry)
                    .hasObservationWithNameEqualTo("reactive.lock.acquire")
                    .that()
                    .hasContextualNameEqualTo("acquire order")
                    .hasOnlyKeys("lock", "store", "kind", "outcome", "reactive.lock.key", "reactive.lock.fencing.token")
                    .hasLowCardinalityKeyValue("lock", "order")
                    .hasLowCardinalityKeyValue("store", "redis")
                    .hasLowCardinalityKeyValue("outcome", "acquired")
                    .hasHighCardinalityKeyValue("reactive.lock.key", "order:42")
                    .hasBeenStarted()
                    .hasBeenStopped();
            assertThat(registry)
                    .hasObservationWithNameEqualTo("reactive.lock.hold")
                    .that()
                    .hasContextualNameEqualTo("hold order")
                    .hasLowCardinalityKeyValue("outcome", "released")
                    .hasLowCardinalityKeyValue("reason", "none")
                    .hasHighCardinalityKeyValue("reactive.lock.fencing.token", token)
                    .hasBeenStopped();
        }
    }

    @Test
    void everyEndHasItsOutcome() {
        List<String> ended = ended();
        try (Locks locks = new Locks(listener)) {
            locks.everything("order");
        }

        assertThat(ended)
                .contains(
                        "acquire acquired none",
                        "acquire timed_out none",
                        "acquire busy none",
                        "acquire cancelled none",
                        "acquire unavailable none",
                        "acquire client_closed none",
                        "hold released none",
                        "hold lost forced",
                        "hold lost client_closed",
                        "hold release_failed none");
    }

    @Test
    void aFailureIsTheErrorOfItsObservation() {
        try (Locks locks = new Locks(listener)) {
            locks.loseByForce("order:42");

            assertThat(registry)
                    .hasObservationWithNameEqualTo("reactive.lock.hold")
                    .that()
                    .hasError();
        }
    }

    @Test
    void aRiskAndItsEndAreEventsOfTheHold() {
        List<String> events = new ArrayList<>();
        registry.observationConfig().observationHandler(new ObservationHandler<LockObservationContext>() {
            @Override
            public void onEvent(Observation.Event event, LockObservationContext context) {
                events.add(context.observation() + " " + event.getName());
            }

            @Override
            public boolean supportsContext(Observation.Context context) {
                return context instanceof LockObservationContext;
            }
        });
        LockOptions lease = LockOptions.defaults().withLease(Duration.ofSeconds(15));
        try (Locks locks = new Locks(listener)) {
            locks.backend.onRenewal(FaultyBackend::unreachable);
            LockHandle held = locks.acquire("order:42", lease);
            Locks.get(held.states().filter(HoldState.AtRisk.class::isInstance).next());
            locks.backend.mend();
            Locks.get(held.states().filter(HoldState.Safe.class::isInstance).next());
            Locks.get(held.release());
        }

        assertThat(events).containsExactly("HOLD at.risk", "HOLD safe.again");
        assertThat(LockObservation.HOLD.getEvents()).isEqualTo(LockObservation.Events.values());
        assertThat(LockObservation.ACQUIRE.getEvents()).isEmpty();
    }

    @Test
    void theParentIsTheObservationOfTheFlowThatAsked() {
        Observation asking = Observation.start("a request", registry);
        try (Locks locks = new Locks(listener)) {
            Locks.get(locks.client
                    .withLock("order:42", Mono.just("work"))
                    .contextWrite(Context.of(ObservationThreadLocalAccessor.KEY, asking)));
        }

        for (LockObservation kind : LockObservation.values()) {
            assertThat(registry)
                    .hasObservationWithNameEqualTo(kind.getName())
                    .that()
                    .hasParentObservationEqualTo(asking);
        }
        assertThat(LockObservations.PARENT).isEqualTo(ObservationThreadLocalAccessor.KEY);
    }

    /** The thread on which a grant is told may belong to the flow that released. */
    @Test
    void anotherFlowsObservationIsNoParent() {
        Request request = new Request("order:42");
        Observation other = Observation.start("another flow", registry);
        listener.waiting(request);
        other.scoped(() -> listener.acquired(request, 1, Duration.ZERO));
        listener.released(request, 1, Duration.ZERO);

        assertThat(registry)
                .hasObservationWithNameEqualTo("reactive.lock.hold")
                .that()
                .doesNotHaveParentObservation();
    }

    @Test
    void whereNothingIsObservedTheMetersAreTheSame() {
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        try (Locks locks = new Locks(LockObservations.of(meters, ObservationRegistry.NOOP))) {
            locks.everything("order");
        }

        assertThat(meters.get(LockMeter.TIMEOUT.getName()).counter().count()).isEqualTo(1);
        assertThat(meters.find(LockObservation.HOLD.getName()).timers()).isEmpty();
    }

    @Test
    void aRequestThatWasNotSeenToBeginIsLeftAlone() {
        Request request = new Request("order:42");
        listener.acquired(request, 1, Duration.ZERO);
        listener.passed(request, 1);
        listener.released(request, 1, Duration.ZERO);

        assertThat(registry).doesNotHaveAnyObservation();
    }

    /** Each observation that stops: which, its outcome, its reason. */
    private List<String> ended() {
        List<String> ended = new ArrayList<>();
        registry.observationConfig().observationHandler(new ObservationHandler<LockObservationContext>() {
            @Override
            public void onStop(LockObservationContext context) {
                String kind = context.observation() == LockObservation.ACQUIRE ? "acquire" : "hold";
                ended.add(kind + " " + context.outcome() + " " + context.reason());
            }

            @Override
            public boolean supportsContext(Observation.Context context) {
                return context instanceof LockObservationContext;
            }
        });
        return ended;
    }
}
