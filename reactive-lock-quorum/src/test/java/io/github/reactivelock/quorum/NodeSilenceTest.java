package io.github.reactivelock.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.state.LockInfo;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;
import reactor.test.scheduler.VirtualTimeScheduler;

/** When a node counts as silent, and when this process was. */
class NodeSilenceTest {

    private static final Duration LEASE = Duration.ofSeconds(10);
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final List<ScriptedNode> nodes = List.of(
            new ScriptedNode(0, new ArrayList<>()),
            new ScriptedNode(1, new ArrayList<>()),
            new ScriptedNode(2, new ArrayList<>()));
    private final Claim claim = new Claim("k", "one", "a test", LEASE, Claim.Mode.QUEUE);
    private long nanos;

    /** The answers came during the pause and lie unread, and the timer is the first that gets a turn. */
    @Test
    void nodesAreNotSilentBecauseThisProcessGotNoTurn() {
        VirtualTimeScheduler timer = VirtualTimeScheduler.create();
        Sinks.One<ClaimResult> unread = Sinks.one();
        nodes.forEach(node -> node.vote = unread.asMono());
        QuorumLockBackend quorum = QuorumLockBackend.of(
                new Surroundings(timer, () -> nanos, Instant::now, (from, to) -> from), allNodes());
        List<Object> answers = new ArrayList<>();
        var unusedAsked = quorum.claim(claim).subscribe(answers::add, answers::add);

        nanos += Duration.ofSeconds(3).toNanos();
        timer.advanceTimeBy(Duration.ofMillis(600));
        assertThat(answers).isEmpty();
        unread.tryEmitValue(new ClaimResult.Granted(7L << QuorumNode.PASS_BITS, LEASE))
                .orThrow();

        assertThat(answers).containsExactly(new ClaimResult.Granted(7L << QuorumNode.PASS_BITS, LEASE));
    }

    @Test
    void nodesAreSilentThatDoNotAnswerWhileTheClockGoesOn() {
        VirtualTimeScheduler timer = VirtualTimeScheduler.create();
        QuorumLockBackend quorum = QuorumLockBackend.of(
                new Surroundings(timer, () -> nanos, Instant::now, (from, to) -> from), allNodes());
        List<Object> answers = new ArrayList<>();
        var unusedAsked = quorum.claim(claim).subscribe(answers::add, answers::add);

        for (int i = 0; i < 13; i++) {
            nanos += Duration.ofMillis(50).toNanos();
            timer.advanceTimeBy(Duration.ofMillis(50));
        }

        assertThat(answers)
                .singleElement()
                .satisfies(failure ->
                        assertThat((Throwable) failure).hasMessageContaining("node 2: no answer within 500 ms"));
    }

    /** It would be dead to the claim for good if it answered more slowly than in a part of its time. */
    @Test
    void aSilentNodeHasItsWholeTimeInEachRoundOfAWaitingClaim() {
        nodes.get(0).vote = Mono.just(new ClaimResult.Queued(LEASE));
        nodes.get(1).vote = Mono.just(new ClaimResult.Granted(7L << QuorumNode.PASS_BITS, LEASE));

        assertThat(millisOfRounds(4)).containsExactly(500, 500, 500, 500);
    }

    @Test
    void everyErrorNamesTheNodesThatFailedAndHow() {
        nodes.get(0).release = Mono.never();
        nodes.get(1).release = Mono.error(new IllegalStateException("asks for a password"));
        nodes.get(0).force = Mono.never();
        nodes.get(1).force = Mono.error(new IllegalStateException("asks for a password"));
        nodes.get(2).info = Mono.just(new LockInfo.Free("k"));
        nodes.get(1).info = Mono.error(new IllegalStateException("asks for a password"));
        nodes.get(0).renewal = Mono.never();
        nodes.get(1).renewal = Mono.error(new IllegalStateException("asks for a password"));
        QuorumLockBackend quorum = QuorumLockBackend.of(allNodes()).withNodeTimeout(Duration.ofMillis(50));
        assertThat(quorum.whySilent("k"))
                .isEqualTo("look whether its nodes are up and reachable: "
                        + List.of(nodes.get(0), nodes.get(1), nodes.get(2)));

        for (Mono<?> question : List.of(
                quorum.release(claim),
                quorum.forceRelease("k", 8),
                quorum.renew(List.of(claim)),
                quorum.inspect("k"))) {
            assertThatThrownBy(() -> question.block(LIMIT))
                    .hasMessageContaining("; node 1: no answer within 50 ms: look whether " + nodes.get(0))
                    .hasMessageContaining("; node 2: asks for a password")
                    .hasMessageNotContaining("node 3");
        }
        assertThat(quorum.whySilent("k"))
                .startsWith("of its 3 nodes 2 failed when asked last; node 1: no answer")
                .endsWith("; node 2: asks for a password");
    }

    private List<Integer> millisOfRounds(int rounds) {
        VirtualTimeScheduler timer = VirtualTimeScheduler.create();
        QuorumLockBackend quorum = QuorumLockBackend.of(
                new Surroundings(timer, () -> nanos, Instant::now, (from, to) -> from), allNodes());
        List<Integer> millis = new ArrayList<>();
        for (int i = 0; i < rounds; i++) {
            List<Object> answers = new ArrayList<>();
            var unusedAsked = quorum.claim(claim).subscribe(answers::add, answers::add);
            int waited = 0;
            while (answers.isEmpty() && waited < 2_000) {
                waited += 10;
                nanos += Duration.ofMillis(10).toNanos();
                timer.advanceTimeBy(Duration.ofMillis(10));
            }
            assertThat(answers).singleElement().isInstanceOf(ClaimResult.Queued.class);
            millis.add(waited);
        }
        return millis;
    }

    @Test
    void aSilentNodeIsGivenUpThoughTheApplicationKeepsAllThreadsOfReactor() throws InterruptedException {
        AtomicBoolean over = new AtomicBoolean();
        AtomicLong busy = new AtomicLong();
        CountDownLatch kept = new CountDownLatch(Runtime.getRuntime().availableProcessors());
        for (int i = 0; i < 4 * Runtime.getRuntime().availableProcessors(); i++) {
            var unusedKept = Schedulers.parallel().schedule(() -> {
                kept.countDown();
                for (long turns = 0; !over.get(); turns++) {
                    busy.lazySet(turns); // spinning by Thread is refused on threads that must not block
                }
            });
        }
        nodes.get(0).vote = Sinks.<ClaimResult>one().asMono();
        nodes.get(1).vote = Mono.just(new ClaimResult.Queued(LEASE));
        nodes.get(2).vote = Mono.just(new ClaimResult.Granted(7L << QuorumNode.PASS_BITS, LEASE));

        try {
            assertThat(kept.await(1, TimeUnit.MINUTES)).as("all are kept").isTrue();
            ClaimResult answer = QuorumLockBackend.of(allNodes())
                    .withNodeTimeout(Duration.ofMillis(50))
                    .claim(claim)
                    .block(LIMIT);

            assertThat(answer).isInstanceOf(ClaimResult.Queued.class);
        } finally {
            over.set(true);
        }
    }

    private QuorumNode[] allNodes() {
        return nodes.toArray(QuorumNode[]::new);
    }
}
