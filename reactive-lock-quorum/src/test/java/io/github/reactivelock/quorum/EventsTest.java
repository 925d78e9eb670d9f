package io.github.reactivelock.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** What three nodes push about a lock, and what a watcher of the quorum hears of it. */
class EventsTest {

    private static final LockEvent FREE = new LockEvent.Snapshot(new LockInfo.Free("k"));
    private static final long TOKEN = 7L << QuorumNode.PASS_BITS;
    /** By which a node numbers a vote by itself. */
    private static final long VOTE = 16L << QuorumNode.PASS_BITS;

    private final List<ScriptedNode> nodes = List.of(
            new ScriptedNode(0, new ArrayList<>()),
            new ScriptedNode(1, new ArrayList<>()),
            new ScriptedNode(2, new ArrayList<>()));
    private final List<LockEvent> heard = new CopyOnWriteArrayList<>();
    private final Disposable watching;

    EventsTest() {
        nodes.forEach(node -> node.info = Mono.just(new LockInfo.Free("k")));
        watching = QuorumLockBackend.of(nodes.toArray(QuorumNode[]::new))
                .withNodeTimeout(Duration.ofHours(1))
                .events("k")
                .subscribe(heard::add);
    }

    @AfterEach
    void stop() {
        watching.dispose();
    }

    private void push(int node, LockEvent event) {
        nodes.get(node).events.tryEmitNext(event).orThrow();
    }

    /** A look that is on its way on another thread may have to be waited for. */
    private static void until(BooleanSupplier isSo) {
        Integer unused = Mono.just(0)
                .delayElement(Duration.ofMillis(10))
                .repeat()
                .takeUntil(tick -> isSo.getAsBoolean())
                .blockLast(Duration.ofSeconds(60));
    }

    /** Until then one node may tell of an owner, and that is not enough to believe it. */
    @Test
    void itBeginsWhenAMajorityPushes() {
        push(0, FREE);
        assertThat(heard).isEmpty();

        push(1, FREE);
        assertThat(heard).containsExactly(FREE);
    }

    @Test
    void aNodeThatBeginsAnewIsStillOne() {
        push(0, FREE);
        push(0, FREE);

        assertThat(heard).isEmpty();
    }

    @Test
    void anUnseenOwnerIsReportedOnceAMajorityReportsItsEnd() {
        push(0, FREE);
        push(1, FREE);

        push(0, new LockEvent.Acquired("k", "worker", TOKEN));
        push(0, new LockEvent.Released("k", TOKEN));
        assertThat(heard).containsExactly(FREE);
        push(1, new LockEvent.Acquired("k", "worker", TOKEN));
        push(1, new LockEvent.Released("k", TOKEN));

        assertThat(heard)
                .containsExactly(
                        FREE, new LockEvent.Acquired("k", "worker", TOKEN), new LockEvent.Released("k", TOKEN));
    }

    /** The first look finds votes that are being counted, so nothing is told yet. */
    @Test
    void nothingIsToldBeforeTheSnapshot() {
        held(0, "next", TOKEN + 1);
        held(1, "next", TOKEN + 2);
        push(0, FREE);
        push(1, FREE);

        push(0, new LockEvent.Released("k", TOKEN));
        push(1, new LockEvent.Released("k", TOKEN));
        held(0, "next", TOKEN + 2);
        push(0, new LockEvent.Acquired("k", "next", TOKEN + 2));

        until(() -> !heard.isEmpty());
        assertThat(heard).first().isInstanceOf(LockEvent.Snapshot.class);
        assertThat(heard).doesNotContain(new LockEvent.Released("k", TOKEN));
    }

    /** As long as one that is cut off from here, and not from the owner, says whose it is. */
    @Test
    void aLockIsNotReportedFreeWhileASilentNodeDecides() {
        AtomicInteger looks = new AtomicInteger();
        held(0, "worker", TOKEN);
        nodes.get(2).info = Mono.error(() -> new IllegalStateException("silent " + looks.incrementAndGet()));
        push(0, FREE);
        push(1, FREE);
        until(() -> looks.get() >= 5);
        assertThat(heard).isEmpty();

        held(2, "worker", TOKEN);
        push(2, new LockEvent.Acquired("k", "worker", TOKEN));

        until(() -> !heard.isEmpty());
        assertThat(heard)
                .first()
                .isInstanceOfSatisfying(
                        LockEvent.Snapshot.class,
                        shown -> assertThat(shown.info().isHeldBy("worker")).isTrue());
    }

    /** In the first look only the silent node can tell; in the second, nodes show the holder with different numbers. */
    @Test
    void aHolderThatOneLookLeftOpenIsNotReportedFreeByTheNext() {
        AtomicInteger looks = new AtomicInteger();
        held(0, "worker", TOKEN);
        nodes.get(1).info = Mono.fromSupplier(() -> looks.incrementAndGet() <= 2
                ? new LockInfo.Held("k", "other", VOTE, Duration.ofSeconds(1), 0)
                : new LockInfo.Held("k", "worker", VOTE, Duration.ofSeconds(1), 0));
        nodes.get(2).info = Mono.error(() -> new IllegalStateException("silent"));
        push(0, FREE);
        push(1, FREE);
        until(() -> looks.get() >= 6 || !heard.isEmpty());
        assertThat(heard).isEmpty();

        held(1, "worker", TOKEN);

        until(() -> !heard.isEmpty());
        assertThat(heard)
                .first()
                .isInstanceOfSatisfying(
                        LockEvent.Snapshot.class,
                        shown -> assertThat(shown.info().isHeldBy("worker")).isTrue());
    }

    /** Its push was heard, and what it shows was not: no other push comes. */
    @Test
    void anOwnerIsReportedWhenASilentNodeAnswersThoughNothingIsPushed() {
        AtomicInteger looks = new AtomicInteger();
        push(0, FREE);
        push(1, FREE);
        held(0, "worker", TOKEN);
        nodes.get(1).info = Mono.error(() -> new IllegalStateException("silent " + looks.incrementAndGet()));
        push(0, new LockEvent.Acquired("k", "worker", TOKEN));
        push(1, new LockEvent.Acquired("k", "worker", TOKEN));
        until(() -> looks.get() >= 4);
        assertThat(heard).containsExactly(FREE);

        held(1, "worker", TOKEN);

        until(() -> heard.size() > 1);
        assertThat(heard).containsExactly(FREE, new LockEvent.Acquired("k", "worker", TOKEN));
    }

    /** The second one restarted after the third had got the token, and the third answered before. */
    @Test
    void aHolderThatATornLookDidNotShowIsReportedAgain() {
        push(0, FREE);
        push(1, FREE);
        LockEvent acquired = new LockEvent.Acquired("k", "worker", TOKEN);
        held(0, "worker", TOKEN);
        held(1, "worker", TOKEN);
        push(0, acquired);
        nodes.get(1).info = Mono.just(new LockInfo.Free("k"));
        push(1, FREE);
        LockEvent released = new LockEvent.Released("k", TOKEN);
        assertThat(heard).containsExactly(FREE, acquired, released);

        held(2, "worker", TOKEN);
        push(2, acquired);
        assertThat(heard).containsExactly(FREE, acquired, released, acquired);

        push(0, released);
        push(2, released);
        assertThat(heard).containsExactly(FREE, acquired, released, acquired, released);
    }

    /** Looks take time: what a majority has told of is over, also where a look did not show it before. */
    @Test
    void anEndThatALookShowedIsReportedOnce() {
        push(0, FREE);
        push(1, FREE);
        LockEvent acquired = new LockEvent.Acquired("k", "worker", TOKEN);
        held(0, "worker", TOKEN);
        held(1, "worker", TOKEN);
        push(0, acquired);
        nodes.forEach(node -> node.info = Mono.just(new LockInfo.Free("k")));

        for (int node = 0; node < 3; node++) {
            push(node, new LockEvent.Released("k", TOKEN));
        }

        assertThat(heard).containsExactly(FREE, acquired, new LockEvent.Released("k", TOKEN));
    }

    /** The looks take time, and the lock may have gone on when a majority has told of an end. */
    @Test
    void theEndOfAnOwnerBeforeTheOneShownIsOld() {
        push(0, FREE);
        push(1, FREE);
        held(0, "next", TOKEN + 1);
        held(1, "next", TOKEN + 1);

        push(0, new LockEvent.Released("k", TOKEN));
        push(1, new LockEvent.Released("k", TOKEN));

        assertThat(heard).containsExactly(FREE, new LockEvent.Acquired("k", "next", TOKEN + 1));
    }

    /**
     * A third node keeps its own number of the grant, and one of the two that show the token gives its vote to another.
     */
    @Test
    void anOwnerStaysWithItsMajorityThoughNotAllShowTheToken() {
        held(0, "worker", TOKEN);
        held(1, "worker", TOKEN);
        held(2, "worker", TOKEN + 1);
        push(0, FREE);
        push(1, FREE);

        held(0, "other", TOKEN + 5);
        push(0, new LockEvent.Acquired("k", "other", TOKEN + 5));
        assertThat(heard).hasSize(1);

        held(1, "other", TOKEN + 6);
        push(1, new LockEvent.Acquired("k", "other", TOKEN + 6));
        assertThat(heard).hasSize(1);

        held(0, "other", TOKEN + 6);
        push(0, new LockEvent.Acquired("k", "other", TOKEN + 6));
        assertThat(heard)
                .hasSize(3)
                .endsWith(new LockEvent.Released("k", TOKEN), new LockEvent.Acquired("k", "other", TOKEN + 6));
    }

    /** As nodes number it each for itself, until a token is written back to them. */
    @Test
    void votesThatAreBeingCountedAreNoOwner() {
        push(0, FREE);
        push(1, FREE);
        held(0, "worker", TOKEN);
        held(1, "worker", TOKEN + 1);

        push(0, new LockEvent.Acquired("k", "worker", TOKEN));
        push(1, new LockEvent.Acquired("k", "worker", TOKEN + 1));
        assertThat(heard).containsExactly(FREE);

        held(0, "worker", TOKEN + 1);
        push(0, new LockEvent.Acquired("k", "worker", TOKEN + 1));
        assertThat(heard).containsExactly(FREE, new LockEvent.Acquired("k", "worker", TOKEN + 1));
    }

    @Test
    void readersComeAndGoOneByOneInWhateverOrderTheirTokensAre() {
        push(0, FREE);
        push(1, FREE);
        shared(0, reader("one", TOKEN + 1));
        shared(1, reader("one", TOKEN + 1));
        push(1, acquired("one", TOKEN + 1));
        shared(0, reader("one", TOKEN + 1), reader("two", TOKEN));
        shared(1, reader("one", TOKEN + 1), reader("two", TOKEN));
        push(1, acquired("two", TOKEN));
        assertThat(heard).containsExactly(FREE, acquired("one", TOKEN + 1), acquired("two", TOKEN));

        push(0, released(TOKEN + 1));
        push(1, released(TOKEN + 1));
        push(2, released(TOKEN + 1));
        assertThat(heard).hasSize(4).endsWith(released(TOKEN + 1));

        shared(0);
        shared(1);
        push(0, acquired("somebody who gave the vote back", TOKEN + 3));
        assertThat(heard).hasSize(5).endsWith(released(TOKEN));
    }

    @Test
    void anUnseenReaderIsReportedOnceAMajorityReportsItsEnd() {
        push(0, FREE);
        push(1, FREE);
        for (int node = 0; node < 2; node++) {
            push(node, acquired("one", TOKEN));
            push(node, released(TOKEN));
        }

        assertThat(heard).containsExactly(FREE, acquired("one", TOKEN), released(TOKEN));
    }

    @Test
    void aWriterComesWhenAllReadersAreGone() {
        shared(0, reader("one", TOKEN), reader("two", TOKEN + 1));
        shared(1, reader("one", TOKEN), reader("two", TOKEN + 1));
        push(0, FREE);
        push(1, FREE);
        assertThat(heard).hasSize(1);

        held(0, "writer", TOKEN + 2);
        held(1, "writer", TOKEN + 2);
        push(1, new LockEvent.Acquired("k", "writer", TOKEN + 2));
        push(0, released(TOKEN));
        push(1, released(TOKEN));

        assertThat(heard)
                .hasSize(4)
                .contains(released(TOKEN), released(TOKEN + 1))
                .endsWith(new LockEvent.Acquired("k", "writer", TOKEN + 2));
    }

    private static LockInfo.Holder reader(String owner, long token) {
        return new LockInfo.Holder(owner, 1, token, Duration.ofSeconds(1));
    }

    private static LockEvent acquired(String reader, long token) {
        return new LockEvent.Acquired("k", reader, token, 1);
    }

    private static LockEvent released(long token) {
        return new LockEvent.Released("k", token, 1);
    }

    private void shared(int node, LockInfo.Holder... readers) {
        LockInfo.Shares shares = new LockInfo.Shares(readers.length, readers.length, List.of(readers));
        nodes.get(node).info = Mono.just(
                readers.length == 0
                        ? new LockInfo.Free("k")
                        : new LockInfo.Held(
                                "k",
                                readers[0].owner(),
                                readers[0].fencingToken(),
                                Duration.ofSeconds(1),
                                0,
                                null,
                                List.of(),
                                shares));
    }

    private void held(int node, String owner, long token) {
        nodes.get(node).info = Mono.just(new LockInfo.Held("k", owner, token, Duration.ofSeconds(1), 0));
    }
}
