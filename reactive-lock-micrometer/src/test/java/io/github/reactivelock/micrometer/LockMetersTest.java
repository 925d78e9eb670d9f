package io.github.reactivelock.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.HoldState;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.micrometer.Locks.Request;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LossReason;
import io.micrometer.common.docs.KeyName;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** What is counted of locks. */
class LockMetersTest {

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final LockObservations listener = LockObservations.of(registry);

    @Test
    void theGaugesFollowWaitsAndHolds() {
        try (Locks locks = new Locks(listener)) {
            LockHandle held = locks.acquire("order:1");
            Disposable waiter = locks.client.acquire("order:1").subscribe();
            Locks.get(locks.client.acquire("order:2"));

            assertThat(gauges()).containsExactly(2.0, 1.0);

            waiter.dispose();
            Locks.get(held.release());
            assertThat(gauges()).containsExactly(1.0, 0.0);
        }
        assertThat(gauges()).containsExactly(0.0, 0.0);
    }

    @Test
    void everythingThatEndsIsCountedAndNothingIsLeftOver() {
        try (Locks locks = new Locks(listener)) {
            locks.everything("order");
        }

        assertThat(counter(LockMeter.TIMEOUT).count()).isEqualTo(1);
        assertThat(counter(LockMeter.RELEASE_FAILED).count()).isEqualTo(1);
        assertThat(lost(LossReason.FORCED).count()).isEqualTo(1);
        assertThat(gauges()).containsExactly(0.0, 0.0);
    }

    @Test
    void aHandlerOfObservationsThatThrowsSpoilsNoMeter() {
        ObservationRegistry observations = ObservationRegistry.create();
        observations.observationConfig().observationHandler(new ObservationHandler<Observation.Context>() {
            @Override
            public void onStop(Observation.Context context) {
                throw new IllegalStateException("of the application");
            }

            @Override
            public boolean supportsContext(Observation.Context context) {
                return true;
            }
        });
        try (Locks locks = new Locks(LockObservations.of(registry, observations))) {
            LockHandle held = locks.acquire("order:1");
            assertThat(gauges()).containsExactly(1.0, 0.0);
            Locks.get(held.release());
            locks.loseByForce("order:1");
        }

        assertThat(lost(LossReason.FORCED).count()).isEqualTo(1);
        assertThat(gauges()).containsExactly(0.0, 0.0);
    }

    @Test
    void everyCounterIsThereWithZeroFromTheFirstRequestOn() {
        listener.waiting(new Request("order:1"));

        for (LossReason reason : LossReason.values()) {
            assertThat(lost(reason).count()).isZero();
        }
        for (LockMeter meter : LockMeter.values()) {
            assertThat(registry.find(meter.getName()).meters()).as("%s", meter).isNotEmpty();
        }
    }

    @Test
    void risksFailedRenewalsAndPassesAreCounted() {
        Request request = new Request("order:1");
        listener.waiting(request);
        listener.passed(request, 4097);
        listener.acquired(request, 4097, Duration.ZERO);
        listener.renewalFailed(request, 4097, new IllegalStateException("no connection"));
        listener.atRisk(request, 4097, new HoldState.AtRisk(Duration.ofSeconds(1), null));
        listener.safeAgain(request, 4097);

        assertThat(counter(LockMeter.PASSED).count()).isEqualTo(1);
        assertThat(counter(LockMeter.RENEWAL_FAILED).count()).isEqualTo(1);
        assertThat(counter(LockMeter.AT_RISK).count()).isEqualTo(1);
        assertThat(registry.getMeters().stream().map(meter -> meter.getId().getName()))
                .as("not counted twice")
                .doesNotContain("reactive.lock.hold.at.risk");
    }

    @Test
    void hitsMissesAndRecallsOfALockThatIsKeptAreCounted() {
        try (Locks locks = new Locks(listener)) {
            LockClient keeping = locks.client.with(LockOptions.defaults().withRetention(Duration.ofSeconds(30)));
            for (int flow = 0; flow < 3; flow++) {
                Locks.get(keeping.withLock("order:1", Mono.empty()));
            }
            locks.backend.forge(new Signal.Recall(locks.backend.claims().get(0).id()));
            Locks.get(keeping.withLock("order:1", Mono.empty()));
        }

        assertThat(counter(LockMeter.RETENTION_HIT).count()).isEqualTo(2);
        assertThat(counter(LockMeter.RETENTION_MISSED).count()).isEqualTo(2);
        assertThat(counter(LockMeter.RECALLED).count()).isEqualTo(1);
        assertThat(counter(LockMeter.PASSED).count()).isEqualTo(2);
    }

    @Test
    void eachMeterHasTheTagsThatAreWrittenDownAndThereAreNoOthers() {
        try (Locks locks = new Locks(listener)) {
            locks.everything("order");
        }

        assertThat(registry.getMeters())
                .allSatisfy(meter -> assertThat(tags(meter)).isEqualTo(documented(meter)));
        assertThat(registry.getMeters().stream().map(meter -> meter.getId().getName()))
                .containsOnly(Stream.concat(
                                Arrays.stream(LockMeter.values()).map(LockMeter::getName),
                                Arrays.stream(LockObservation.values()).map(LockObservation::getName))
                        .toArray(String[]::new));
    }

    @Test
    void theNameIsWhatStandsBeforeTheColonOrWhatTheApplicationSays() {
        listener.waiting(new Request("order:1:2"));
        listener.waiting(new Request("report"));
        listener.withName(key -> "row").waiting(new Request("order-42"));

        assertThat(names()).containsExactlyInAnyOrder("order", "report", "row");
    }

    @Test
    void namesThatAreTooManyAreCountedTogether() {
        for (int i = 0; i < NamedMeters.MOST_NAMES + 20; i++) {
            listener.waiting(new Request("order-" + i));
        }

        assertThat(names()).hasSize(NamedMeters.MOST_NAMES + 1).contains("order-0", "other");
        assertThat(registry.get(LockMeter.WAITING.getName())
                        .tag("lock", "other")
                        .gauge()
                        .value())
                .isEqualTo(20);
    }

    /** Held, and waiting, of the name "order". */
    private List<Double> gauges() {
        return Stream.of(LockMeter.HELD, LockMeter.WAITING)
                .map(meter -> registry.get(meter.getName())
                        .tag("lock", "order")
                        .gauge()
                        .value())
                .toList();
    }

    private Counter counter(LockMeter meter) {
        return registry.get(meter.getName()).tag("lock", "order").counter();
    }

    private Counter lost(LossReason reason) {
        return registry.get(LockMeter.LOST.getName())
                .tag("reason", LockMeters.word(reason))
                .counter();
    }

    private List<String> names() {
        return registry.find(LockMeter.HELD.getName()).gauges().stream()
                .map(gauge -> gauge.getId().getTag("lock"))
                .toList();
    }

    private static List<String> tags(Meter meter) {
        return meter.getId().getTags().stream().map(Tag::getKey).sorted().toList();
    }

    private static List<String> documented(Meter meter) {
        String name = meter.getId().getName();
        Stream<KeyName> names = Arrays.stream(LockMeter.values())
                .filter(known -> known.getName().equals(name))
                .flatMap(known -> Arrays.stream(known.getKeyNames()));
        // Micrometer's handler adds the class of the error.
        Stream<String> timed = Arrays.stream(LockObservation.values())
                .filter(known -> known.getName().equals(name))
                .flatMap(known -> Stream.concat(
                        Arrays.stream(known.getLowCardinalityKeyNames()).map(KeyName::asString), Stream.of("error")));
        return Stream.concat(names.map(KeyName::asString), timed).sorted().toList();
    }
}
