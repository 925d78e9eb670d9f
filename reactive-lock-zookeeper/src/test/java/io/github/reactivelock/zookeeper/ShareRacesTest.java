package io.github.reactivelock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.queue.Content;
import io.github.reactivelock.spi.queue.Entered;
import io.github.reactivelock.spi.queue.Expiries;
import io.github.reactivelock.spi.queue.Followers;
import io.github.reactivelock.spi.queue.QueuePosition;
import io.github.reactivelock.state.Share;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.curator.framework.CuratorFramework;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;

/** What changes after a claim has read the queue, and before its watch is there. */
class ShareRacesTest extends Fixture {

    private final KeyLayout names = new KeyLayout("reactivelock");
    private Connection connection;
    private Nodes nodes;
    private Followers<SequenceNode, Node> followers;
    private Disposable listening;
    private final Queue<Signal> signals = new ConcurrentLinkedQueue<>();

    /** A claim that has read the queue. */
    private record Waiting(ClaimState state, Node node, QueuePosition<SequenceNode> position) {}

    @BeforeEach
    void makeTheParts() {
        connection = new Connection(new ClientSource.Users(zookeeper), patient());
        nodes = new Nodes(connection, names);
        SignalSink pushes = new SignalSink(connection, nodes, () -> names.notice("races"));
        StoredEntries entries =
                new StoredEntries(connection, nodes, new Watches(connection), names, new Removals(connection, nodes));
        followers = new Followers<>(entries, new Expiries<>(entries, pushes::push), pushes::push);
        signals.clear();
        listening = pushes.signals(Flux::empty).subscribe(signals::add);
    }

    @AfterEach
    void removeTheParts() {
        listening.dispose();
        ZooKeepers.claims(zookeeper).forEach(path -> ZooKeepers.delete(zookeeper, path));
        connection.close().block(ZooKeepers.LIMIT);
    }

    private Waiting enter(Share share) {
        return enterAgain(claim(share));
    }

    private Waiting enterAgain(Claim claim) {
        ClaimState state = new ClaimState(claim);
        Entered<SequenceNode, Node> entered =
                ZooKeepers.get(nodes.create(claim, Content.of("races", claim), () -> true));
        assertThat(state.seen(entered.own())).isTrue();
        return new Waiting(state, entered.own(), entered.queue().position(claim.id()));
    }

    private void follow(Waiting waiting) {
        assertThat(waiting.position.isIn() && waiting.position.isOf(waiting.node))
                .isFalse();
        followers.follow(waiting.state, waiting.node, waiting.position);
    }

    private void untilIn(Waiting waiting) throws InterruptedException {
        ZooKeepers.until("it is in", waiting.state::isOwner);
        Signal grant = new Signal.Grant(waiting.state.claim().id(), waiting.node.token(), connection.reliable());
        ZooKeepers.until(
                "and told so, once",
                () -> signals.stream().filter(grant::equals).count() == 1);
    }

    private void leave(Waiting leaving) {
        ZooKeepers.delete(zookeeper, leaving.node.path());
    }

    @Test
    void aReaderIsInThoughTheWriterBeforeItLeftBeforeTheWatch() throws InterruptedException {
        Waiting reading = enter(Share.ONE);
        Waiting writer = enter(Share.WHOLE);
        Waiting reader = enter(Share.ONE);

        leave(writer);
        follow(reader);

        untilIn(reader);
        assertThat(reading.position.isIn()).isTrue();
    }

    @Test
    void aReaderIsInWhenTheLastOfTwoWritersLeavesFirst() throws InterruptedException {
        Waiting owner = enter(Share.WHOLE);
        Waiting writer = enter(Share.WHOLE);
        Waiting reader = enter(Share.ONE);
        follow(reader);

        leave(writer);
        leave(owner);

        untilIn(reader);
    }

    @Test
    void permitsThatCameBackBeforeTheWatchAreSeen() throws InterruptedException {
        Waiting holder = enter(Share.permits(2, 2));
        Waiting next = enter(Share.permits(1, 2));

        leave(holder);
        follow(next);

        untilIn(next);
    }

    @Test
    void aLateSubscriberOfAWatchSeesChangesSinceItsOwnRead() throws InterruptedException {
        Waiting holder = enter(Share.permits(3, 3));
        Waiting first = enter(Share.permits(3, 3));
        follow(first);
        Waiting second = enter(Share.permits(1, 3));
        Waiting third = enter(Share.permits(1, 3));

        leave(holder);
        untilIn(first);
        leave(first);
        follow(second);
        follow(third);

        untilIn(second);
        untilIn(third);
    }

    @Test
    void whoComesToAWatchThatIsThereIsShownTheLatestReading() throws InterruptedException {
        Waiting holder = enter(Share.permits(3, 3));
        Waiting second = enter(Share.permits(1, 3));
        Waiting last = enter(Share.permits(3, 3));
        follow(last);
        ZooKeepers.get(nodes.queue(key));
        long before = ZooKeepers.changesOfLinesTold();
        leave(holder);
        ZooKeepers.until("the change is told", () -> ZooKeepers.changesOfLinesTold() > before);
        for (int i = 0; i < 3; i++) {
            ZooKeepers.get(nodes.queue(key));
        }

        follow(second);

        untilIn(second);
        assertThat(last.state.isOwner()).isFalse();
    }

    @Test
    void aClaimIsNotInByANodeThatItHasGivenUp() throws InterruptedException {
        Waiting before = enter(Share.permits(2, 2));
        Waiting waiting = enterAgain(before.state.claim());
        follow(waiting);
        for (int i = 0; i < 3; i++) {
            ZooKeepers.get(nodes.queue(key));
        }
        assertThat(waiting.state.isOwner()).isFalse();

        leave(before);

        untilIn(waiting);
    }

    @Test
    void theLineIsReadAnewWithANewSessionBecauseItsWatchIsGone() throws Exception {
        Waiting holder = enter(Share.ONE);
        try (CuratorFramework users = ZooKeepers.client(server.getConnectString())) {
            Connection other = new Connection(new ClientSource.Users(users), patient());
            Queue<List<String>> readings = new ConcurrentLinkedQueue<>();
            Disposable reading = new Watches(other).names(names.lock(key)).subscribe(readings::add, error -> {});
            ZooKeepers.until("it is read", () -> readings.size() == 1);

            ZooKeepers.expire(users, server.getConnectString());

            ZooKeepers.until("it is read anew", () -> readings.size() >= 2);
            int before = readings.size();
            leave(holder);
            ZooKeepers.until("and watched", () -> readings.size() > before);
            reading.dispose();
            ZooKeepers.get(other.close().thenReturn(true));
        }
    }

    @Test
    void permitsThatWaitBehindAWriterAreInWhenItHasLeft() throws InterruptedException {
        Waiting holder = enter(Share.permits(1, 3));
        Waiting writer = enter(Share.WHOLE);
        List<Waiting> behind = List.of(enter(Share.permits(1, 3)), enter(Share.permits(2, 3)));
        behind.forEach(this::follow);

        leave(writer);
        untilIn(behind.get(0));
        assertThat(behind.get(1).state.isOwner()).isFalse();
        leave(holder);

        untilIn(behind.get(1));
    }

    @Test
    void noWatchOfALineIsLeftWhenAllAreIn() throws InterruptedException {
        Waiting holder = enter(Share.permits(2, 2));
        Waiting next = enter(Share.permits(2, 2));
        follow(next);
        ZooKeepers.until("it is watched", this::isWatched);
        leave(holder);

        untilIn(next);

        ZooKeepers.until("no watch is left", () -> !isWatched());
    }

    private boolean isWatched() {
        return ZooKeepers.watchedLines(zookeeper).contains(names.lock(key));
    }
}
