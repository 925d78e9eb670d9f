package io.github.reactivelock.zookeeper;

import io.github.reactivelock.spi.queue.Entries;
import io.github.reactivelock.spi.queue.PlaceQueue;
import java.time.Duration;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The nodes of claims, as those of a queue ({@code spi.queue}). */
final class StoredEntries implements Entries<SequenceNode, Node> {

    private final Connection connection;
    private final Nodes nodes;
    private final Watches watches;
    private final KeyLayout names;
    private final Removals removals;

    StoredEntries(Connection connection, Nodes nodes, Watches watches, KeyLayout names, Removals removals) {
        this.connection = connection;
        this.nodes = nodes;
        this.watches = watches;
        this.names = names;
        this.removals = removals;
    }

    @Override
    public Mono<PlaceQueue<SequenceNode>> queue(String key) {
        return nodes.queue(key);
    }

    @Override
    public Flux<PlaceQueue<SequenceNode>> queues(String key) {
        return watches.names(names.lock(key)).map(SequenceNode::queue);
    }

    @Override
    public Mono<Void> untilChanged(String key, SequenceNode place) {
        return watches.untilChanged(names.claim(key, place.name())).then();
    }

    @Override
    public Duration reliable() {
        return connection.reliable();
    }

    @Override
    public Mono<Boolean> isThere(Node node) {
        return nodes.check(List.of(node.path())).map(checked -> checked.keeps(0, node));
    }

    /** A node's name stays as it is; that it was written to tells others. */
    @Override
    public Mono<Node> unmark(Node node) {
        return isThere(node)
                .filter(keeps -> keeps)
                .flatMap(keeps -> nodes.read(node.path()))
                .flatMap(read -> nodes.writeAgain(read).thenReturn(node));
    }

    @Override
    public Mono<Boolean> remove(Node givenUp) {
        return removals.remove(givenUp);
    }
}
