package io.github.reactivelock.quorum;

import io.github.reactivelock.spi.LockPage;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What a lock looks like to a majority of the nodes, for those who only look. */
record Observer(Voters nodes) {

    Mono<LockInfo> inspect(String key) {
        return nodes.onEnough(node -> node.inspect(key), answers -> agreed(key, answers) != null)
                .flatMap(nodes::asMany)
                .map(answers -> {
                    LockInfo agreed = agreed(key, answers);
                    return agreed == null ? new LockInfo.Free(key) : withoutAges(agreed);
                });
    }

    /** Nodes know claims by the places that these brought along, which are times of their clients' clocks. */
    private static LockInfo withoutAges(LockInfo info) {
        return info instanceof LockInfo.Held held ? withoutAges(held) : info;
    }

    private static LockInfo.Held withoutAges(LockInfo.Held held) {
        return new LockInfo.Held(
                held.key(),
                held.owner(),
                held.fencingToken(),
                held.remaining(),
                held.waiters(),
                held.age(),
                held.queue().stream()
                        .map(waiting -> new LockInfo.Waiting(waiting.owner(), null))
                        .toList());
    }

    /** What a majority shows, if one is of one mind. Nodes that number alike what they gave to different owners are not. */
    private @Nullable LockInfo agreed(String key, List<LockInfo> answers) {
        Map<String, Integer> counts = new HashMap<>();
        for (LockInfo answer : answers) {
            String grant = answer instanceof LockInfo.Held held ? held.fencingToken() + " " + held.owner() : "";
            if (nodes.isMajority(counts.merge(grant, 1, Integer::sum))) {
                return grant.isEmpty() ? new LockInfo.Free(key) : answer;
            }
        }
        return null;
    }

    /** The node's number stands before its own cursor, because a cursor is of one node. */
    Mono<LockPage> list(String prefix, String from) {
        return Mono.defer(() -> {
            int colon = from.indexOf(':');
            int node = colon < 0 ? nodes.firstReady() : Integer.parseInt(from, 0, colon, 10);
            return nodes.node(node)
                    .list(prefix, from.substring(colon + 1))
                    .map(page -> new LockPage(
                            page.locks().stream().map(Observer::withoutAges).toList(),
                            page.next().isEmpty() ? "" : node + ":" + page.next()));
        });
    }

    Flux<LockEvent> events(String key) {
        return Flux.defer(() -> {
            Watch watch = new Watch(key, nodes.size());
            return nodes.pushed(node -> node.events(key))
                    .concatMap(told -> Flux.fromIterable(watch.told(told.node(), told.value()))
                            .concatWith(inspect(key).flatMapIterable(watch::seen)));
        });
    }
}
