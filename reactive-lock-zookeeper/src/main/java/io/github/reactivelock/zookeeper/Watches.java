package io.github.reactivelock.zookeeper;

import static java.util.stream.Collectors.toUnmodifiableSet;

import io.github.reactivelock.spi.support.FireAndForget;
import java.util.EnumSet;
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
import org.apache.curator.x.async.AsyncCuratorFramework;
import org.apache.curator.x.async.AsyncStage;
import org.apache.curator.x.async.api.AsyncPathable;
import org.apache.curator.x.async.api.AsyncRemoveWatchesBuilder;
import org.apache.curator.x.async.api.RemoveWatcherOption;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * Watches on nodes, each taken back when its subscriber has left. The server then still knows that this session
 * wants to hear of the node, once for all its watches there; its events are dropped then.
 */
final class Watches {

    /** What {@link #below} emits when the watch is in force. */
    static final WatchedEvent BEGUN = new WatchedEvent(EventType.None, KeeperState.SyncConnected, null);

    private static final Set<EventType> REMOVED =
            EnumSet.of(EventType.DataWatchRemoved, EventType.ChildWatchRemoved, EventType.PersistentWatchRemoved);
    /** Where the connection is broken the client forgets a watch, too, or it would begin it anew with the next one. */
    private static final Set<RemoveWatcherOption> LOCALLY = Set.of(RemoveWatcherOption.local);

    private final Connection connection;
    /** How many {@link #below} watch each node. */
    private final Map<String, Integer> observed = new ConcurrentHashMap<>();
    /** What {@link #names} waits for, of each node. */
    private final Map<String, Set<Once>> reading = new ConcurrentHashMap<>();

    Watches(Connection connection) {
        this.connection = connection;
    }

    /**
     * Completes when a node is changed or deleted, and at once if it is not there. The node is read, because a watch on a
     * node that is not there would wait for its creation.
     */
    Mono<Void> untilChanged(String path) {
        return watch(path).flatMap(change -> change);
    }

    /** Emits when the watch is in force: a Mono that completes with the next change. */
    Mono<Mono<Void>> watch(String path) {
        return Mono.defer(() -> {
            Once watcher = new Once();
            Mono<Boolean> begun =
                    connection.ask(async -> read(async.unwrap(), path, watcher)).cache();
            Runnable takeBack = () -> {
                if (watcher.over.compareAndSet(false, true)) {
                    takeBack(path, watcher, begun);
                }
            };
            return begun.map(there -> there ? watcher.changed.asMono().doOnCancel(takeBack) : Mono.<Void>empty())
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
                Sinks.EmitResult unused = changed.tryEmitEmpty();
            }
        }
    }

    /**
     * The names below a node, now and after every change, until there are none. The names are read by the question that sets
     * the watch, so no change is lost between the two. They are read anew also when a connection is there again, because a
     * watch may have gone with its session.
     */
    Flux<List<String>> names(String path) {
        return Flux.defer(() -> {
                    Once watcher = new Once();
                    Consumer<ConnectionState> anew = state -> {
                        if (state.isConnected()) {
                            Sinks.EmitResult unused = watcher.changed.tryEmitEmpty();
                        }
                    };
                    connection.onChange(anew);
                    reading.compute(path, (node, others) -> and(others, watcher));
                    Mono<List<String>> begun = connection
                            .ask(async -> readNames(async.unwrap(), path, watcher))
                            .cache();
                    return begun.flatMapMany(names -> Flux.concat(
                                    Mono.just(names), watcher.changed.asMono().then(Mono.empty())))
                            .doFinally(signal -> {
                                connection.noLonger(anew);
                                reading.computeIfPresent(path, (node, all) -> without(all, watcher));
                                if (watcher.over.compareAndSet(false, true)) {
                                    takeBack(path, watcher, begun);
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
    private static CompletionStage<Boolean> read(CuratorFramework client, String path, Watcher watcher) {
        return answer(
                path,
                event -> event.getResultCode() == Code.OK.intValue(),
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

    private interface Question {
        Object ask(BackgroundCallback heard) throws Exception;
    }

    /** What the answer says, also if it says that the node is not there. */
    private static <T> CompletionStage<T> answer(String path, Function<CuratorEvent, T> read, Question question) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        try {
            Object unused = question.ask((ignored, event) -> {
                Code code = Code.get(event.getResultCode());
                if (code == Code.OK || code == Code.NONODE) {
                    answer.complete(read.apply(event));
                } else {
                    answer.completeExceptionally(KeeperException.create(code, path));
                }
            });
        } catch (Exception e) {
            answer.completeExceptionally(e);
        }
        return answer;
    }

    private void takeBack(String path, Watcher watcher, Mono<?> begun) {
        takeBack(path, watcher, begun, Mono.just(false));
    }

    /** Not before the answer has come: ZooKeeper's client knows a watch only from then on. */
    private void takeBack(String path, Watcher watcher, Mono<?> begun, Mono<Boolean> all) {
        Mono<Void> removal = all.filter(isAll -> !connection.isClosed())
                .flatMap(isAll -> connection.ask(
                        async -> removed(async.removeWatches(), watcher, isAll).forPath(path)));
        Disposable unused = FireAndForget.run(
                "taking back a watch", begun.then().onErrorComplete().then(removal));
    }

    private static AsyncPathable<AsyncStage<Void>> removed(
            AsyncRemoveWatchesBuilder which, Watcher one, boolean isAll) {
        return isAll ? which.removingAll(LOCALLY) : which.removing(one, LOCALLY);
    }

    /**
     * All that comes and goes below a node, after {@link #BEGUN}. Any interruption is an error. Such a watch goes on at the server
     * until it is told to end all of this session there, so the last subscriber tells it. That interrupts others there, who
     * begin anew: a {@link #names}, and one that came while the last one left.
     */
    Flux<WatchedEvent> below(String path) {
        return Flux.create(sink -> {
            Watcher watcher = event -> {
                if (REMOVED.contains(event.getType()) && !sink.isCancelled()) {
                    sink.error(new KeeperException.ConnectionLossException());
                } else if (event.getType() != EventType.None) {
                    FluxSink<WatchedEvent> unused = sink.next(event);
                }
            };
            observed.merge(path, 1, Integer::sum);
            Consumer<ConnectionState> broken = state -> {
                if (!state.isConnected()) {
                    sink.error(new KeeperException.ConnectionLossException());
                }
            };
            connection.onChange(broken);
            Mono<Void> begun =
                    connection.ask(async -> begin(async, path, watcher)).cache();
            Disposable beginning = begun.subscribe(done -> {}, sink::error, () -> {
                readAnew(path);
                FluxSink<WatchedEvent> unused = sink.next(BEGUN);
            });
            FluxSink<WatchedEvent> unused = sink.onDispose(() -> {
                beginning.dispose();
                connection.noLonger(broken);
                takeBack(path, watcher, begun, Mono.fromCallable(() -> isLast(path)));
            });
        });
    }

    /** Whether no other is left. */
    private boolean isLast(String path) {
        return observed.computeIfPresent(path, (node, all) -> all == 1 ? null : all - 1) == null;
    }

    /**
     * A server before 3.9 knows one kind of watch for each node and session. The newer one of {@link #below} leaves out what
     * {@link #names} waits for, which is asked for again therefore; the other way round nothing is lost.
     */
    private void readAnew(String path) {
        for (Once names : reading.getOrDefault(path, Set.of())) {
            Sinks.EmitResult unused = names.changed.tryEmitEmpty();
        }
    }

    private static CompletionStage<Void> begin(AsyncCuratorFramework async, String path, Watcher watcher) {
        return async.addWatch()
                .withMode(AddWatchMode.PERSISTENT_RECURSIVE)
                .usingWatcher(watcher)
                .forPath(path);
    }
}
