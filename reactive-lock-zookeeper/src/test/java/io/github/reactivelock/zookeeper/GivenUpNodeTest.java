package io.github.reactivelock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.queue.Content;
import io.github.reactivelock.spi.queue.Expiries;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import org.apache.curator.framework.CuratorFramework;
import org.junit.jupiter.api.Test;

/** The deletion of a node that a claim has given up, where its answer is missing. */
class GivenUpNodeTest extends ProxiedFixture {

    private final KeyLayout names = new KeyLayout("reactivelock");

    @Test
    void aRepeatedDeletionDoesNotTakeAClaimsNewerNode() throws Exception {
        try (CuratorFramework users = ZooKeepers.client(proxied())) {
            Connection connection = new Connection(new ClientSource.Users(users), patient());
            Connection hasty =
                    new Connection(new ClientSource.Users(users), patient().withCommandTimeout(Duration.ofMillis(300)));
            Nodes nodes = new Nodes(connection, names);
            Nodes soonGivenUp = new Nodes(hasty, names);
            Removals removals = new Removals(hasty, soonGivenUp);
            SignalSink pushes = new SignalSink(connection, nodes, () -> names.notice("given-up"));
            Claim claim = claim(Share.ONE, Duration.ofMillis(100));
            ClaimState waiting = new ClaimState(claim);
            Node first = make(nodes, claim);
            assertThat(waiting.seen(first)).isTrue();

            proxy.freeze();
            Watches watches = new Watches(hasty);
            new Expiries<>(new StoredEntries(hasty, soonGivenUp, watches, names, removals), pushes::push)
                    .beginWait(waiting, first);
            ZooKeepers.until("it is given up", () -> waiting.entry() == null);
            for (int i = 0; i < 2; i++) { // asked behind the deletion, which has failed when these have
                assertThat(soonGivenUp
                                .queue(key)
                                .map(line -> true)
                                .onErrorReturn(false)
                                .block(ZooKeepers.LIMIT))
                        .isFalse();
            }
            proxy.mend();
            Node second = make(nodes, claim);
            assertThat(waiting.seen(second)).isTrue();
            ZooKeepers.get(removals.untilDone().thenReturn(true));

            assertThat(ZooKeepers.claims(zookeeper)).containsExactly(second.path());
            assertThat(ZooKeepers.get(nodes.delete(second.path()))).isTrue();
            ZooKeepers.get(hasty.close().then(connection.close()).thenReturn(true));
        }
    }

    private static Node make(Nodes nodes, Claim claim) {
        return ZooKeepers.get(nodes.create(claim, Content.of("given-up", claim), () -> true))
                .own();
    }
}
