package io.github.reactivelock.models;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;
import reactor.test.scheduler.VirtualTimeScheduler;
import reactor.test.subscriber.TestSubscriber;

/**
 * The engine concludes from whatever it hears what the model concludes: whether there is a hold, with which token, and
 * for how long to the nanosecond. The store says anything at any time, in any order, so that no branch is left out. The
 * log is silent, because thousands of losses are not worth a line each.
 */
class GrantDriftTest {

    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final long MILLI = 1_000_000;
    private static final Logger NOISE = (Logger) LoggerFactory.getLogger("io.github.reactivelock");

    @BeforeAll
    static void silence() {
        NOISE.setLevel(Level.OFF);
    }

    @AfterAll
    static void speak() {
        NOISE.setLevel(Level.INFO);
    }

    @Test
    void the_engine_takes_the_steps_of_the_model() {
        int held = 0;
        for (int seed = 0; seed < 5_000; seed++) {
            held += new Course(seed).run();
        }
        assertThat(held).as("courses with a hold").isGreaterThan(1_000);
    }

    /** One claim from its first question to its end, both in the engine and in the model. */
    private static final class Course implements LockBackend {

        private final Random random;
        private final String name;
        private final GrantSteps model = new GrantSteps(LEASE.toNanos(), LEASE.toNanos() / 100 + 2 * MILLI);
        private final VirtualTimeScheduler timer = VirtualTimeScheduler.create();
        private final List<Runnable> answers = new ArrayList<>();
        private final List<String> log = new ArrayList<>();
        private final Sinks.Many<Signal> signals = Sinks.many().multicast().directBestEffort();
        private final TestSubscriber<LockHandle> flow = TestSubscriber.create();
        private long now;
        private String claimId = "";

        Course(int seed) {
            this.random = new Random(seed);
            this.name = "seed " + seed;
        }

        /** 1 if there was a hold. */
        int run() {
            LockClient client = LockClient.builder(this)
                    .options(LockOptions.defaults().withLease(LEASE))
                    .timing(timer, () -> now)
                    .workScheduler(Schedulers.immediate())
                    .build();
            client.acquire("k").subscribe(flow);
            for (int step = 0; step < 30 && !isRefused(); step++) {
                step();
                compare();
            }
            return flow.getReceivedOnNext().size();
        }

        private boolean isRefused() {
            return flow.isTerminated() && flow.getReceivedOnNext().isEmpty();
        }

        private boolean isHeld() {
            return !flow.getReceivedOnNext().isEmpty()
                    && flow.getReceivedOnNext().get(0).isHeld();
        }

        private void step() {
            int what = random.nextInt(10);
            if (what < 4 && !answers.isEmpty()) {
                answers.remove(random.nextInt(answers.size())).run();
            } else if (what < 6) {
                long token = token();
                log.add("push " + token);
                model.hearPush(token, now);
                signals.emitNext(new Signal.Grant(claimId, token), Sinks.EmitFailureHandler.FAIL_FAST);
            } else {
                boolean isPaused = random.nextInt(4) == 0; // the clock goes on and no timer runs
                long passed = random.nextInt(isPaused ? 20_000 : 6_000) * MILLI;
                log.add((isPaused ? "paused for " : "wait for ") + passed / MILLI);
                now += passed;
                if (!isPaused) {
                    if (!model.isTrying() && !model.relies(now)) {
                        model.lose();
                    }
                    timer.advanceTimeBy(Duration.ofNanos(Math.max(passed, 600 * MILLI)));
                }
            }
        }

        private void compare() {
            String course = name + ": " + String.join(", ", log);
            assertThat(isHeld()).as(course).isEqualTo(model.relies(now));
            if (isHeld()) {
                LockHandle handle = flow.getReceivedOnNext().get(0);
                assertThat(handle.fencingToken()).as(course).isEqualTo(model.token());
                assertThat(handle.remaining().toNanos()).as(course).isEqualTo(model.remaining(now));
            }
        }

        private long token() {
            return (1L + random.nextInt(6)) << PASS_BITS;
        }

        @Override
        public Mono<ClaimResult> claim(Claim claim) {
            return Mono.create(sink -> {
                claimId = claim.id();
                long sentAt = now;
                int number = model.ask(now);
                log.add("ask " + number);
                answers.add(() -> {
                    long token = token();
                    if (random.nextBoolean()) {
                        log.add("answer " + number + ": granted " + token);
                        model.hearGranted(number, sentAt, token, now);
                        sink.success(new ClaimResult.Granted(token, LEASE));
                    } else {
                        log.add("answer " + number + ": queued " + token);
                        model.hearQueued(sentAt, token);
                        sink.success(new ClaimResult.Queued(Duration.ofSeconds(5), null, token));
                    }
                });
            });
        }

        @Override
        public Mono<RenewalResult> renew(List<Claim> held) {
            return Mono.create(sink -> {
                long sentAt = now;
                Set<String> ids = Set.of(held.get(0).id());
                log.add("renew");
                answers.add(() -> {
                    boolean isRenewed = random.nextInt(4) > 0;
                    log.add(isRenewed ? "renewed" : "lost");
                    if (isRenewed) {
                        model.hearRenewed(sentAt, now);
                        sink.success(new RenewalResult(ids, Map.of()));
                    } else {
                        model.lose();
                        sink.success(
                                new RenewalResult(Set.of(), Map.of(held.get(0).id(), LossReason.EXPIRED)));
                    }
                });
            });
        }

        @Override
        public Mono<Boolean> release(Claim claim) {
            return Mono.just(true);
        }

        @Override
        public Flux<Signal> signals() {
            return signals.asFlux();
        }

        @Override
        public Mono<LockInfo> inspect(String key) {
            return Mono.just(new LockInfo.Free(key));
        }

        @Override
        public Flux<LockEvent> events(String key) {
            return Flux.never();
        }

        @Override
        public Mono<Boolean> forceRelease(String key, long fencingToken) {
            return Mono.just(false);
        }

        @Override
        public Mono<Void> close() {
            return Mono.empty();
        }
    }
}
