package io.github.reactivelock.engine.user;

import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.micrometer.context.ContextRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.subscriber.TestSubscriber;

/** Code under a lock sees the thread-locals of its own flow, where Reactor propagates them. */
class PropagationTest {

    private static final String KEY = "user";
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final ThreadLocal<String> USER = new ThreadLocal<>();

    private final Bench bench = new Bench();
    private final InMemoryLockBackend store = InMemoryLockBackend.create(bench.time::nanos);
    private final LockClient client = bench.over(store).build();

    @BeforeEach
    void propagate() {
        ContextRegistry.getInstance().registerThreadLocalAccessor(KEY, USER);
        Hooks.enableAutomaticContextPropagation();
    }

    @AfterEach
    void stop() {
        Hooks.disableAutomaticContextPropagation();
        ContextRegistry.getInstance().removeThreadLocalAccessor(KEY);
        USER.remove();
    }

    @Test
    void aFlowThatGetsTheLockOnTheThreadOfAnotherSeesItsOwn() {
        List<String> seen = new ArrayList<>();
        LockHandle first = Bench.held(subscribe(client.acquire("k")));
        TestSubscriber<String> flow = subscribe(client.withLock("k", held -> {
                    seen.add("function " + USER.get());
                    return Mono.fromCallable(() -> "callable " + USER.get());
                })
                .doOnNext(seen::add)
                .doOnNext(value -> seen.add("downstream " + USER.get()))
                .contextWrite(context -> context.put(KEY, "mine")));

        USER.set("another's");
        subscribe(first.release());

        assertThat(flow.isTerminatedComplete()).isTrue();
        assertThat(seen).containsExactly("function mine", "callable mine", "downstream mine");
        assertThat(USER.get()).as("what the other flow sees afterwards").isEqualTo("another's");
    }

    @Test
    void workThatLosesItsLockIsCancelledWithItsOwn() {
        List<String> seen = new ArrayList<>();
        TestSubscriber<Object> flow =
                subscribe(client.withLock("k", Mono.never().doOnCancel(() -> seen.add("cancel " + USER.get())))
                        .doOnError(e -> seen.add("error " + USER.get()))
                        .contextWrite(context -> context.put(KEY, "mine")));

        USER.set("another's");
        subscribe(client.forceRelease("k"));

        assertThat(flow.expectTerminalError()).isInstanceOf(LockLostException.class);
        assertThat(seen).containsExactly("cancel mine", "error mine");
    }

    @Test
    void whoHearsOfALossOrOfAStateSeesItsOwn() {
        List<String> seen = new ArrayList<>();
        LockHandle held = Bench.held(subscribe(client.acquire("k")));
        subscribe(held.lost().doOnNext(loss -> seen.add("lost " + USER.get())).contextWrite(c -> c.put(KEY, "mine")));
        subscribe(held.states()
                .doOnNext(state -> seen.add("state " + USER.get()))
                .doOnComplete(() -> seen.add("end " + USER.get()))
                .contextWrite(context -> context.put(KEY, "mine"))
                .then());

        USER.set("another's");
        subscribe(client.forceRelease("k"));

        assertThat(seen).containsExactlyInAnyOrder("state mine", "lost mine", "state mine", "end mine");
    }

    @Test
    void aFlowWithoutAnyDoesNotSeeAnothers() {
        List<String> seen = new ArrayList<>();
        LockHandle first = Bench.held(subscribe(client.acquire("k")));
        TestSubscriber<String> flow = subscribe(client.withLock("k", held -> {
            seen.add("function " + USER.get());
            return Mono.just("v");
        }));

        USER.set("another's");
        subscribe(first.release());

        assertThat(flow.isTerminatedComplete()).isTrue();
        assertThat(seen).containsExactly("function null");
    }

    @Test
    void whatTheFunctionThrowsArrivesAsItIs() {
        IllegalStateException own = new IllegalStateException("own");
        TestSubscriber<String> flow = subscribe(client.<String>withLock("k", held -> {
            throw own;
        }));

        assertThat(flow.expectTerminalError()).isSameAs(own);
        assertThat(store.size()).isZero();
    }

    @Test
    void eachOfManyFlowsSeesItsOwnOnRealThreads() {
        LockClient real =
                LockClient.builder(store.connect()).commandTimeout(LIMIT).build();
        Map<Integer, String> wrong = new ConcurrentHashMap<>();
        Mono<Void> all = Flux.range(0, 400)
                .flatMap(
                        i -> real.withLock("k" + i % 3, held -> {
                                    note(wrong, i);
                                    return Mono.fromRunnable(() -> note(wrong, i));
                                })
                                .doFinally(signal -> note(wrong, i))
                                .contextWrite(context -> context.put(KEY, "user " + i))
                                .subscribeOn(Schedulers.parallel()),
                        64)
                .then();

        all.then(real.close()).block(LIMIT);

        assertThat(wrong).isEmpty();
    }

    private static void note(Map<Integer, String> wrong, int flow) {
        if (!("user " + flow).equals(USER.get())) {
            wrong.put(flow, "saw " + USER.get());
        }
    }
}
