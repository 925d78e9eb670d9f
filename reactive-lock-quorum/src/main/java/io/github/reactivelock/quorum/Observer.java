package io.github.reactivelock.quorum;

import io.github.reactivelock.quorum.Voters.Pushed;
import io.github.reactivelock.spi.LockPage;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.IntConsumer;
import java.util.function.Predicate;
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
    /** A moment in parts: most tokens are written back in the first. */
    private static final List<Duration> SOON =
            List.of(Duration.ofMillis(5), Duration.ofMillis(20), Duration.ofMillis(50), Duration.ofMillis(125));

    /**
     * While votes are counted the lock is free, but for those who share it already. Fails if silent nodes decide whose
     * it is.
     */
    Mono<LockInfo> inspect(String key) {
        return settled(look(key), View::isCertain).map(view -> {
            if (view.isUndecided()) {
                throw undecided(view);
            }
            return view.info();
        });
    }

    /** Fails if silent nodes decide it, or ones that show some holders only. */
    Mono<Boolean> isCurrent(String key, long fencingToken) {
        return settled(look(key, view -> view.isIn(fencingToken)), view -> view.isCertain() || view.isIn(fencingToken))
                .map(view -> {
                    boolean isIn = view.isIn(fencingToken);
                    if (!isIn && (view.isOpen() || view.mayBeIn(fencingToken))) {
                        throw undecided(view);
                    }
                    return isIn;
                });
    }

    /**
     * Whether who has the token may be in, though no majority shows it. Not known, and so false, where nodes are
     * silent.
     */
    Mono<Boolean> mayBeIn(String key, long fencingToken) {
        return settled(look(key), View::isCertain)
                .map(view -> view.mayBeIn(fencingToken))
                .onErrorReturn(false);
    }

    private IllegalStateException undecided(View view) {
        if (!view.likely().isEmpty()) {
            return new IllegalStateException("the nodes of '" + view.key() + "' have votes of one owner with different"
                    + " numbers: of a claim that waits, or of a hold that has just lost a node; ask again");
        }
        return new IllegalStateException(
                view.silent() == 0
                        ? "'" + view.key() + "' is shared by more than its nodes show; let the resource compare tokens"
                                + " instead"
                        : "nodes do not agree whose '" + view.key() + "' is, and " + view.silent() + " of "
                                + nodes.size() + " did not answer; look whether these are up and reachable"
                                + nodes.failures());
    }

    /** Where it is not certain, what is certain soon, or what is so a moment later too. */
    private Mono<View> settled(Mono<View> look, Predicate<View> isEnough) {
        return look.flatMap(view -> isEnough.test(view) ? Mono.just(view) : settled(look, isEnough, view));
    }

    /** A look that waits for silent nodes takes long enough. */
    private Mono<View> settled(Mono<View> look, Predicate<View> isEnough, View first) {
        return Flux.fromIterable(first.silent() > 0 ? List.of(MOMENT) : SOON)
                .concatMap(pause -> Mono.delay(pause, timer).then(look), 1)
                .takeUntil(isEnough)
                .reduce(first, (before, later) -> later.after(before));
    }

    private Mono<View> look(String key) {
        return look(key, view -> false);
    }

    /** As soon as nothing can change any more, or it is enough; at the latest when all nodes had their time. */
    private Mono<View> look(String key, Predicate<View> isEnough) {
        return nodes.onEnough((node, number) -> node.inspect(key), answers -> {
                    View view = View.of(key, answers, nodes.size());
                    return view.isCertain() || isEnough.test(view);
                })
                .flatMap(nodes::asMany)
                .map(answers -> View.of(key, answers, nodes.size()));
    }

    /**
     * One node says which keys there are, and a majority what is true of each. The node's number stands before its own
     * cursor, because a cursor is of one node.
     */
    Mono<LockPage> list(String prefix, String from) {
        return Mono.defer(() -> {
            int colon = from.indexOf(':');
            int node = colon < 0 ? nodes.firstReady() : Integer.parseInt(from, 0, colon, 10);
            return nodes.node(node)
                    .list(prefix, from.substring(colon + 1))
                    .flatMap(page -> Flux.fromIterable(page.locks())
                            .flatMapSequential(held -> settled(look(held.key()), View::isCertain), AT_A_TIME)
                            .map(View::info)
                            .ofType(LockInfo.Held.class)
                            .collectList()
                            .map(locks -> new LockPage(locks, page.next().isEmpty() ? "" : node + ":" + page.next())));
        });
    }

    /** Each push makes it look, and again, a moment later at first, while that leaves it uncertain. */
    Flux<LockEvent> events(String key) {
        return Flux.defer(() -> {
            Events events = new Events(key, nodes.size());
            Sinks.Many<Integer> again = Sinks.many().unicast().onBackpressureBuffer();
            IntConsumer lookAgain = moments -> again.tryEmitNext(moments).orThrow();
            Flux<Optional<Pushed<LockEvent>>> moments = again.asFlux()
                    .concatMap(pause ->
                            Mono.delay(MOMENT.multipliedBy(pause), timer).thenReturn(Optional.empty()));
            return Flux.merge(nodes.pushed(node -> node.events(key)).map(Optional::of), moments)
                    .concatMap(told -> Flux.fromIterable(told(events, told.orElse(null)))
                            .concatWith(look(key)
                                    .flatMapIterable(view -> told.isPresent()
                                            ? events.seen(view, lookAgain)
                                            : events.seenAgain(view, lookAgain))));
        });
    }

    private static List<LockEvent> told(Events events, @Nullable Pushed<LockEvent> pushed) {
        return pushed == null ? List.of() : events.told(pushed.node(), pushed.value());
    }
}
