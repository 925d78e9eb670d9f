package io.github.reactivelock.quorum;

import io.github.reactivelock.quorum.Voters.Pushed;
import io.github.reactivelock.spi.LockPage;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;

/** What a lock looks like to a majority of the nodes, for those who only look. */
record Observer(Voters nodes, Scheduler timer) {

    private static final int AT_A_TIME = 16;
    /** Far longer than it takes to write a token back that has a majority of votes. */
    private static final Duration MOMENT = Duration.ofMillis(200);

    /** While votes are counted the lock is free. Fails if silent nodes decide whose it is. */
    Mono<LockInfo> inspect(String key) {
        return settled(key).map(view -> {
            if (view.certain() != null) {
                return view.certain();
            }
            if (view.silent() > 0 && !view.shown().isEmpty()) {
                throw undecided(key, view);
            }
            return new LockInfo.Free(key);
        });
    }

    Mono<Boolean> isCurrent(String key, long fencingToken) {
        return settled(key).map(view -> {
            LockInfo certain = view.certain();
            if (certain == null && view.silent() > 0 && view.shows(fencingToken)) {
                throw undecided(key, view);
            }
            return certain instanceof LockInfo.Held held
                    && (held.fencingToken() == fencingToken || view.shows(fencingToken, held.owner()));
        });
    }

    private IllegalStateException undecided(String key, View view) {
        return new IllegalStateException("nodes do not agree whose '" + key + "' is, and " + view.silent() + " of "
                + nodes.size() + " did not answer; look whether these are up and reachable");
    }

    /** Where it is not certain, what is so a moment later too. */
    private Mono<View> settled(String key) {
        return look(key)
                .flatMap(view -> view.certain() == null
                        ? Mono.delay(MOMENT, timer).then(look(key)).map(later -> later.after(view))
                        : Mono.just(view));
    }

    /** As soon as a majority shows the same, at the latest when all nodes had their time. */
    private Mono<View> look(String key) {
        return nodes.onEnough(
                        node -> node.inspect(key),
                        answers -> View.of(key, answers, nodes.size()).certain() != null)
                .flatMap(nodes::asMany)
                .map(answers -> View.of(key, answers, nodes.size()));
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
                            .flatMapSequential(held -> settled(held.key()), AT_A_TIME)
                            .mapNotNull(View::certain)
                            .ofType(LockInfo.Held.class)
                            .collectList()
                            .map(locks -> new LockPage(locks, page.next().isEmpty() ? "" : node + ":" + page.next())));
        });
    }

    /** Each push makes it look, and once more a moment later if that left it uncertain. */
    Flux<LockEvent> events(String key) {
        return Flux.defer(() -> {
            Watch watch = new Watch(key, nodes.size());
            Sinks.Many<Optional<Pushed<LockEvent>>> again =
                    Sinks.many().unicast().onBackpressureBuffer();
            Flux<Optional<Pushed<LockEvent>>> moments =
                    again.asFlux().concatMap(moment -> Mono.delay(MOMENT, timer).thenReturn(moment));
            return Flux.merge(nodes.pushed(node -> node.events(key)).map(Optional::of), moments)
                    .concatMap(told -> Flux.fromIterable(told(watch, told.orElse(null)))
                            .concatWith(look(key)
                                    .flatMapIterable(view -> told.isPresent()
                                            ? watch.seen(
                                                    view,
                                                    () -> again.tryEmitNext(Optional.empty())
                                                            .orThrow())
                                            : watch.seenAgain(view))));
        });
    }

    private static List<LockEvent> told(Watch watch, @Nullable Pushed<LockEvent> pushed) {
        return pushed == null ? List.of() : watch.told(pushed.node(), pushed.value());
    }
}
