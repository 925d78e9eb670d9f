package io.github.reactivelock.election;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;
import reactor.test.scheduler.VirtualTimeScheduler;

/** An election among runners, in virtual time, over a store in memory. What they do is written down in order. */
final class Race {

    static final Duration LEASE = Duration.ofSeconds(10);
    static final String KEY = "leader";
    private static final Duration STEP = Duration.ofMillis(50);

    final List<String> log = new ArrayList<>();
    private final AtomicLong clock = new AtomicLong();
    private final InMemoryLockBackend store = InMemoryLockBackend.create(clock::get);
    private final List<Runner> runners = new ArrayList<>();

    Runner runner(String name) {
        Runner runner = new Runner(name);
        runners.add(runner);
        return runner;
    }

    /** For the store and for every runner that is not paused. */
    void pass(Duration time) {
        for (long passed = 0; passed < time.toNanos(); passed += STEP.toNanos()) {
            clock.addAndGet(STEP.toNanos());
            runners.stream().filter(runner -> !runner.isPaused).forEach(runner -> runner.time.advanceTimeBy(STEP));
        }
    }

    boolean isFree() {
        return store.inspect(KEY).block() instanceof LockInfo.Free;
    }

    /** One process with its own time and its own way to the store. */
    final class Runner implements LockBackend {

        final VirtualTimeScheduler time = VirtualTimeScheduler.create();
        final LockClient client;
        final LeaderElection election;
        private final String name;
        private final LockBackend way = store.connect();
        private Sinks.Empty<Void> cut = Sinks.empty();
        boolean isPaused;
        private boolean isCut;
        int tries;
        /** Looks that show no owner, as a torn look at a quorum may. */
        int tornLooks;
        /** Before a release leaves for the store. */
        Mono<Void> delay = Mono.empty();

        Disposable campaign = () -> {};

        private Runner(String name) {
            this.name = name;
            this.client = LockClient.builder(this)
                    .name(name)
                    .timing(time, () -> time.now(TimeUnit.NANOSECONDS))
                    .workScheduler(Schedulers.immediate())
                    .options(LockOptions.defaults().withLease(LEASE))
                    .build();
            this.election = LeaderElection.of(client, KEY).withTimer(time);
        }

        /** Leads for as long as it may. */
        void run() {
            campaign = election.lead(this::work)
                    .subscribe(
                            value -> {}, error -> log.add(name + " failed: " + error), () -> log.add(name + " done"));
        }

        Flux<Long> work(Leadership leadership) {
            return Flux.<Long>never()
                    .doOnSubscribe(begun -> log.add(name + " leads"))
                    .doOnCancel(() -> log.add(name + " is cancelled"));
        }

        Leadership leadership() {
            return ((ElectionState.Leading) election.state()).leadership();
        }

        void assertFollows(String leader) {
            assertThat(election.state())
                    .isInstanceOfSatisfying(
                            ElectionState.Following.class,
                            state -> assertThat(state.leader()).isEqualTo(leader));
        }

        void cut() {
            isCut = true;
            cut.tryEmitError(new IllegalStateException("the way is cut")).orThrow();
        }

        void mend() {
            isCut = false;
            cut = Sinks.empty();
        }

        private <T> Mono<T> sent(Mono<T> question) {
            return Mono.defer(() -> {
                return isCut ? Mono.error(new IllegalStateException("the way is cut")) : question;
            });
        }

        private <T> Flux<T> pushed(Flux<T> pushes) {
            return Flux.defer(() -> isCut
                    ? Flux.error(new IllegalStateException("the way is cut"))
                    : Flux.merge(pushes, cut.asMono().then(Mono.empty())));
        }

        @Override
        public Mono<ClaimResult> claim(Claim claim) {
            tries++;
            return sent(way.claim(claim));
        }

        @Override
        public Mono<RenewalResult> renew(List<Claim> held) {
            return sent(way.renew(held));
        }

        @Override
        public Mono<Boolean> release(Claim claim) {
            return delay.then(sent(way.release(claim)));
        }

        @Override
        public Flux<Signal> signals() {
            return pushed(way.signals());
        }

        @Override
        public Mono<LockInfo> inspect(String key) {
            return sent(way.inspect(key)).map(info -> tornLooks > 0 && tornLooks-- > 0 ? new LockInfo.Free(key) : info);
        }

        @Override
        public Flux<LockEvent> events(String key) {
            return pushed(way.events(key));
        }

        @Override
        public Mono<Boolean> forceRelease(String key, long fencingToken) {
            return sent(way.forceRelease(key, fencingToken));
        }

        @Override
        public Mono<Void> close() {
            return way.close();
        }
    }
}
