package io.github.reactivelock.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;

/** What looking costs three nodes: the questions to them, counted in a time that the test moves. */
class CostOfLooksTest {

    private static final long TOKEN = 7L << QuorumNode.PASS_BITS;
    private static final LockInfo HELD = new LockInfo.Held("k", "one", TOKEN, Duration.ofSeconds(30), 0);
    private static final Duration WAY = Duration.ofMillis(1);

    private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
    private final List<ScriptedNode> nodes = List.of(
            new ScriptedNode(0, new ArrayList<>()),
            new ScriptedNode(1, new ArrayList<>()),
            new ScriptedNode(2, new ArrayList<>()));
    private final QuorumLockBackend quorum = QuorumLockBackend.of(
            new Surroundings(time, () -> time.now(TimeUnit.NANOSECONDS), () -> Instant.EPOCH, (from, to) -> from),
            nodes.toArray(QuorumNode[]::new));
    private int questions;

    CostOfLooksTest() {
        nodes.forEach(node -> node.info = Mono.defer(() -> {
            questions++;
            return Mono.just(HELD).delayElement(WAY, time);
        }));
    }

    @Test
    void aLookIsOneQuestionToEachNode() {
        CompletableFuture<LockInfo> seen = quorum.inspect("k").toFuture();
        time.advanceTimeBy(WAY);

        assertThat(seen).isCompletedWithValue(HELD);
        assertThat(questions).isEqualTo(3);
    }

    @Test
    void aWatcherLooksAtEachPushAndAsksNothingWhileNothingMoves() {
        List<LockEvent> heard = new ArrayList<>();
        Disposable watching = quorum.events("k").subscribe(heard::add);

        assertThat(questionsOfOneEach(new LockEvent.Snapshot(HELD))).isEqualTo(9);
        assertThat(heard).hasSize(1);
        assertThat(questionsOfOneEach(new LockEvent.Acquired("k", "one", TOKEN)))
                .isEqualTo(9);

        questions = 0;
        time.advanceTimeBy(Duration.ofHours(1));
        assertThat(questions).isZero();
        watching.dispose();
    }

    private int questionsOfOneEach(LockEvent pushed) {
        questions = 0;
        nodes.forEach(node -> node.events.tryEmitNext(pushed).orThrow());
        time.advanceTimeBy(WAY.multipliedBy(nodes.size()));
        return questions;
    }
}
