package io.github.reactivelock.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.Share;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;

/** Several clients try at once for a free lock, whose nodes hear of them in whatever order chance has. */
class RivalTriesTest {

    private static final int ROUNDS = 300;
    private static final Duration LEASE = Duration.ofSeconds(10);
    private static final Instant EPOCH = Instant.parse("2020-01-01T00:00:00Z");

    private final VirtualTimeScheduler timer = VirtualTimeScheduler.create();
    private final Random random = new Random(42);
    private final Set<Integer> dead = new HashSet<>();

    @Test
    void exactlyOneOfThreeGetsAFreeLock() {
        assertThat(holdersOfEachRound(3, 3)).hasSize(ROUNDS).containsOnly(1);
    }

    @Test
    void exactlyOneOfThreeGetsAFreeLockThoughANodeIsSilent() {
        dead.add(1);

        assertThat(holdersOfEachRound(3, 3)).hasSize(ROUNDS).containsOnly(1);
    }

    @Test
    void oneOfEightGetsAFreeLockOfFiveNodesThoughTwoAreSilent() {
        dead.addAll(List.of(0, 4));

        assertThat(holdersOfEachRound(5, 8)).hasSize(ROUNDS).containsOnly(1);
    }

    @Test
    void aTryIsTurnedAwayWhereAMajorityNamesOneOwnerAndLeavesNothing() {
        List<InMemoryLockBackend> stores = stores(3);
        QuorumLockBackend one = client(stores);
        QuorumLockBackend two = client(stores);
        List<ClaimResult> answers = new ArrayList<>();
        var unusedHeld = one.claim(claim("held", Claim.Mode.QUEUE)).subscribe(answers::add);
        pass(1_000);

        var unusedTried = two.claim(claim("tries", Claim.Mode.TRY)).subscribe(answers::add);
        pass(1_000);
        var unusedReleased = one.release(claim("held", Claim.Mode.QUEUE)).subscribe();
        pass(1_000);

        assertThat(answers).hasSize(2).element(1).isEqualTo(new ClaimResult.Busy());
        assertThat(stores).allSatisfy(store -> assertThat(store.size()).isZero());
    }

    /**
     * A client that died with a vote keeps that for its lease; with another node silent no claim can have a majority.
     */
    @Test
    void aTryThatCannotTellSaysSoInTheTimeOfAFewQuestions() {
        List<InMemoryLockBackend> stores = stores(3);
        var unusedVote = stores.get(0).claim(claim("died", Claim.Mode.TRY)).block();
        dead.add(1);
        List<Throwable> failures = new ArrayList<>();

        var unusedTried = client(stores)
                .claim(claim("tries", Claim.Mode.TRY))
                .subscribe(answer -> failures.add(new AssertionError(answer)), failures::add);
        pass(1_900); // the client waits for two seconds

        assertThat(failures)
                .singleElement()
                .satisfies(failure -> assertThat(failure)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("2 of its 3 nodes answered and disagree")
                        .hasMessageContaining("node 2: no answer")
                        .hasMessageContaining("not known whether the lock is free"));
    }

    @Test
    void aWriterThatTriesBesideReadersIsTurnedAway() {
        List<InMemoryLockBackend> stores = stores(3);
        List<ClaimResult> answers = new ArrayList<>();
        for (String reader : List.of("one", "two")) {
            Claim share = new Claim("k", reader, reader, LEASE, Claim.Mode.TRY, Claim.Keeping.RENEWED, Share.ONE);
            var unusedRead = client(stores).claim(share).subscribe(answers::add);
        }
        pass(1_000);
        assertThat(answers).hasSize(2).allMatch(ClaimResult.Granted.class::isInstance);

        var unusedTried = client(stores).claim(claim("writer", Claim.Mode.TRY)).subscribe(answers::add);
        pass(1_000);

        assertThat(answers).hasSize(3).element(2).isEqualTo(new ClaimResult.Busy());
    }

    // ---- a time and ways of their own

    private List<Integer> holdersOfEachRound(int nodes, int rivals) {
        List<InMemoryLockBackend> stores = stores(nodes);
        List<QuorumLockBackend> clients =
                Stream.generate(() -> client(stores)).limit(rivals).toList();
        List<Signal> pushed = new ArrayList<>();
        var heard = Flux.merge(clients.stream().map(QuorumLockBackend::signals).toList())
                .subscribe(pushed::add);
        List<Integer> holders = new ArrayList<>();
        for (int round = 0; round < ROUNDS; round++) {
            List<ClaimResult> answers = new ArrayList<>();
            List<Throwable> failures = new ArrayList<>();
            for (int rival = 0; rival < rivals; rival++) {
                Claim claim = claim("r" + round + "-" + rival, Claim.Mode.TRY);
                var unusedTried = clients.get(rival).claim(claim).subscribe(answers::add, failures::add);
            }
            pass(2_000);
            assertThat(failures).as("round " + round).isEmpty();
            assertThat(answers).hasSize(rivals);
            holders.add((int) answers.stream()
                    .filter(ClaimResult.Granted.class::isInstance)
                    .count());
            for (int rival = 0; rival < rivals; rival++) {
                Claim claim = claim("r" + round + "-" + rival, Claim.Mode.TRY);
                var unusedReleased = clients.get(rival).release(claim).subscribe();
            }
            pass(1_000);
        }
        heard.dispose();
        return holders;
    }

    private void pass(int millis) {
        for (int i = 0; i < 4 * millis; i++) {
            timer.advanceTimeBy(Duration.ofNanos(250_000));
        }
    }

    private List<InMemoryLockBackend> stores(int nodes) {
        List<InMemoryLockBackend> stores = Stream.generate(() -> InMemoryLockBackend.create(this::nanos))
                .limit(nodes)
                .toList();
        timer.advanceTimeBy(Duration.ofMinutes(1)); // all of them count
        return stores;
    }

    private long nanos() {
        return timer.now(TimeUnit.NANOSECONDS);
    }

    private QuorumLockBackend client(List<InMemoryLockBackend> stores) {
        QuorumNode[] nodes = IntStream.range(0, stores.size())
                .mapToObj(node -> way(node, stores.get(node).connect()))
                .toArray(QuorumNode[]::new);
        return QuorumLockBackend.of(
                new Surroundings(
                        timer,
                        this::nanos,
                        () -> EPOCH.plusNanos(nanos() + 1_000L * random.nextInt(100)),
                        (from, to) -> from + random.nextInt(to - from)),
                nodes);
    }

    /** What is said over it arrives in order, up to three milliseconds later, and not at a node that is dead. */
    private QuorumNode way(int number, QuorumNode node) {
        long[] last = {0};
        return (QuorumNode) Proxy.newProxyInstance(
                QuorumNode.class.getClassLoader(), new Class<?>[] {QuorumNode.class}, (proxy, method, arguments) -> {
                    if (!method.getReturnType().equals(Mono.class)) {
                        return method.invoke(node, arguments);
                    }
                    return Mono.defer(() -> {
                        if (dead.contains(number)) {
                            return Mono.never();
                        }
                        last[0] = Math.max(last[0] + 1, nanos() + random.nextInt(3_000_000));
                        return Mono.delay(Duration.ofNanos(last[0] - nanos()), timer)
                                .then(Mono.defer(() -> call(method, node, arguments)));
                    });
                });
    }

    private static Mono<?> call(java.lang.reflect.Method method, QuorumNode node, Object[] arguments) {
        try {
            return (Mono<?>) method.invoke(node, arguments);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("the node cannot be called", e);
        }
    }

    private static Claim claim(String id, Claim.Mode mode) {
        return new Claim("k", id, id, LEASE, mode);
    }
}
