package io.github.reactivelock.zookeeper;

import static java.util.stream.Collectors.toUnmodifiableSet;

import io.github.reactivelock.spi.support.Departures.Rank;
import io.github.reactivelock.spi.support.FireAndForget;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.BackgroundCallback;
import org.apache.curator.framework.api.CuratorEvent;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.x.async.api.RemoveWatcherOption;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * Watches on nodes, each taken back when its subscriber has left. The server still keeps one watch of this session for
 * the node, for all its watches there; its events are dropped then.
 */
final class Watches {

    /** Where the connection is broken the client forgets a watch, too, or it would begin it anew with the next one. */
    static final Set<RemoveWatcherOption> LOCALLY = Set.of(RemoveWatcherOption.local);

    /** A node as one client of ZooKeeper sees it. */
    private record Place(Object client, String path) {}

    /**
     * What {@link #names} waits for, of each node. One for all backends, because those over one client of the
     * application have one session.
     */
    private static final Map<Place, Set<Once>> READING = new ConcurrentHashMap<>();

    private final Connection connection;
    private final WatchesBelow below;

    Watches(Connection connection) {
        this.connection = connection;
        this.below = new WatchesBelow(connection, this::readAnew);
    }

    /**
     * Completes when a node is changed or deleted, and at once if it is not there. The node is read, because a watch on
     * a node that is not there would wait for its creation.
     */
    Mono<Void> untilChanged(String path) {
        return watch(path).flatMap(Watched::change);
    }

    /** A node as the question saw it that set the watch. */
    record Watched(CuratorEvent seen, Mono<Void> change) {

        boolean isThere() {
            return isThere(seen);
        }

        static boolean isThere(CuratorEvent seen) {
            return seen.getResultCode() == Code.OK.intValue();
        }

        /** How often what it holds was changed. */
        int version() {
            return seen.getStat().getVersion();
        }

        String text() {
            return KeyLayout.text(seen.getData());
        }
    }

    /** Emits when the watch is in force, with a Mono that completes with the next change. */
    Mono<Watched> watch(String path) {
        return Mono.defer(() -> {
            Once watcher = new Once();
            Mono<CuratorEvent> sent = connection
                    .send(Rank.OTHER, async -> read(async.unwrap(), path, watcher))
                    .cache();
            Runnable takeBack = () -> {
                if (watcher.over.compareAndSet(false, true)) {
                    takeBack(path, watcher, sent);
                }
            };
            return connection
                    .within(sent)
                    .map(seen -> new Watched(
                            seen,
                            Watched.isThere(seen) ? watcher.changed.asMono().doOnCancel(takeBack) : Mono.empty()))
                    .doOnError(error -> takeBack.run())
                    .doOnCancel(takeBack);
        });
    }

    /** Ends with the first change, or by being taken back. */
    private static final class Once implements Watcher {

        final Sinks.Empty<Void> changed = Sinks.empty();
        final AtomicBoolean over = new AtomicBoolean();

        @Override
        public void process(WatchedEvent event) {
            if (event.getType() != EventType.None) {
                over.set(true);
                changed.tryEmitEmpty();
            }
        }
    }

    /**
     * The names below a node, now and after every change, until there are none. The names are read by the question that
     * sets the watch, so no change is lost between the two. They are read anew also when a connection is there again,
     * because a watch may have gone with its session.
     */
    Flux<List<String>> names(String path) {
        return Flux.defer(() -> {
                    Once watcher = new Once();
                    Consumer<ConnectionState> anew = state -> {
                        if (state.isConnected()) {
                            watcher.changed.tryEmitEmpty();
                        }
                    };
                    connection.onChange(anew);
                    Place place = new Place(connection.shared(), path);
                    READING.compute(place, (node, others) -> and(others, watcher));
                    Mono<List<String>> sent = connection
                            .send(
                                    Rank.LOOK,
                                    async -> connection
                                            .roomForNames(async, path)
                                            .thenCompose(room -> readNames(async.unwrap(), path, watcher)))
                            .cache();
                    return connection
                            .within(sent)
                            .flatMapMany(names -> Flux.concat(
                                    Mono.just(names), watcher.changed.asMono().then(Mono.empty())))
                            .doFinally(signal -> {
                                connection.noLonger(anew);
                                READING.computeIfPresent(place, (node, all) -> without(all, watcher));
                                if (watcher.over.compareAndSet(false, true)) {
                                    takeBack(path, watcher, sent);
                                }
                            });
                })
                .repeat()
                .takeUntil(List::isEmpty);
    }

    private static Set<Once> and(@Nullable Set<Once> others, Once one) {
        return others == null
                ? Set.of(one)
                : Stream.concat(others.stream(), Stream.of(one)).collect(toUnmodifiableSet());
    }

    private static @Nullable Set<Once> without(Set<Once> all, Once one) {
        Set<Once> left = all.stream().filter(other -> other != one).collect(toUnmodifiableSet());
        return left.isEmpty() ? null : left;
    }

    /** Curator's asynchronous face keeps its watchers to itself, so that they could not be taken back. */
    private static CompletionStage<CuratorEvent> read(CuratorFramework client, String path, Watcher watcher) {
        return answer(
                path,
                event -> event,
                heard -> client.getData()
                        .undecompressed()
                        .usingWatcher(watcher)
                        .inBackground(heard)
                        .forPath(path));
    }

    private static CompletionStage<List<String>> readNames(CuratorFramework client, String path, Watcher watcher) {
        return answer(
                path,
                event -> event.getChildren() == null ? List.of() : event.getChildren(),
                heard -> client.getChildren()
                        .usingWatcher(watcher)
                        .inBackground(heard)
                        .forPath(path));
    }

    interface Question {
        Object ask(BackgroundCallback heard) throws Exception;
    }

    /** What the answer says, also if it says that the node is not there. */
    static <T> CompletionStage<T> answer(String path, Function<CuratorEvent, T> read, Question question) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        try {
            question.ask((ignored, event) -> {
                try {
                    Code code = Code.get(event.getResultCode());
                    if (code == Code.OK || code == Code.NONODE) {
                        answer.complete(read.apply(event));
                    } else {
                        answer.completeExceptionally(KeeperException.create(code, path));
                    }
                } catch (RuntimeException e) { // a code that is not known here: Curator would log it, and nothing more
                    answer.completeExceptionally(e);
                }
            });
        } catch (Exception e) {
            answer.completeExceptionally(e);
        }
        return answer;
    }

    /** Not before the answer has come: ZooKeeper's client knows a watch only from then on. */
    private void takeBack(String path, Watcher watcher, Mono<?> sent) {
        Mono<Void> removal = Mono.defer(() -> connection.isClosed()
                ? Mono.<Void>empty()
                : connection.ask(
                        Rank.OTHER,
                        async ->
                                async.removeWatches().removing(watcher, LOCALLY).forPath(path)));
        FireAndForget.run("taking back a watch", sent.then().onErrorComplete().then(removal));
    }

    /** See {@link WatchesBelow}. */
    Flux<WatchedEvent> below(String path) {
        return below.below(path);
    }

    /** Ends those {@link #below}. */
    Mono<Void> close() {
        return below.close();
    }

    /**
     * A server before 3.9 knows one kind of watch for each node and session. The newer one of {@link #below} leaves out
     * what {@link #names} waits for, which is asked for again therefore; the other way round nothing is lost.
     */
    private void readAnew(String path) {
        for (Once names : READING.getOrDefault(new Place(connection.shared(), path), Set.of())) {
            names.changed.tryEmitEmpty();
        }
    }
}
