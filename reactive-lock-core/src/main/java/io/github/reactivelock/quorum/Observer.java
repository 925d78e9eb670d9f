package io.github.reactivelock.quorum;

import io.github.reactivelock.spi.LockPage;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What a lock looks like to a majority of the nodes, for those who only look. */
record Observer(Voters nodes) {

    private static final int AT_A_TIME = 16;

    Mono<LockInfo> inspect(String key) {
        return look(key, answers -> numberedDifferently(key, answers));
    }

    private Mono<LockInfo> look(String key, Function<List<LockInfo>, LockInfo> otherwise) {
        return nodes.onEnough(node -> node.inspect(key), answers -> agreed(key, answers) != null)
                .flatMap(nodes::asMany)
                .map(answers -> {
                    LockInfo agreed = agreed(key, answers);
                    return agreed == null ? otherwise.apply(answers) : withoutAges(agreed);
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

    /**
     * A node that was not needed for a grant keeps its own, higher number of it; while one of the others is silent, no two may
     * show the same. The lowest is the grant's.
     */
    private LockInfo numberedDifferently(String key, List<LockInfo> answers) {
        List<LockInfo.Held> held = answers.stream()
                .filter(LockInfo.Held.class::isInstance)
                .map(LockInfo.Held.class::cast)
                .sorted(Comparator.comparingLong(LockInfo.Held::fencingToken))
                .toList();
        boolean isOneOwners = held.stream().map(LockInfo.Held::owner).distinct().count() == 1;
        boolean areApart =
                held.stream().map(LockInfo.Held::fencingToken).distinct().count() == held.size();
        return isOneOwners && areApart && nodes.isMajority(held.size())
                ? withoutAges(held.get(0))
                : new LockInfo.Free(key);
    }

    /**
     * One node says which keys there are, and a majority what is true of each. The node's number stands before its own cursor,
     * because a cursor is of one node.
     */
    Mono<LockPage> list(String prefix, String from) {
        return Mono.defer(() -> {
            int colon = from.indexOf(':');
            int node = colon < 0 ? nodes.firstReady() : Integer.parseInt(from, 0, colon, 10);
            return nodes.node(node)
                    .list(prefix, from.substring(colon + 1))
                    .flatMap(page -> Flux.fromIterable(page.locks())
                            .flatMapSequential(held -> inspect(held.key()), AT_A_TIME)
                            .ofType(LockInfo.Held.class)
                            .collectList()
                            .map(locks -> new LockPage(locks, page.next().isEmpty() ? "" : node + ":" + page.next())));
        });
    }

    /** Without a majority that shows the same there is no owner: votes that are being counted look like one's of many numbers. */
    Flux<LockEvent> events(String key) {
        return Flux.defer(() -> {
            Watch watch = new Watch(key, nodes.size());
            return nodes.pushed(node -> node.events(key))
                    .concatMap(told -> Flux.fromIterable(watch.told(told.node(), told.value()))
                            .concatWith(look(key, shown -> watch.lastOr(new LockInfo.Free(key), shown))
                                    .flatMapIterable(watch::seen)));
        });
    }
}
