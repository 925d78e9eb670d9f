package io.github.reactivelock.zookeeper;

import io.github.reactivelock.spi.support.FireAndForget;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.BackgroundCallback;
import org.apache.curator.framework.api.CuratorEvent;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.x.async.AsyncCuratorFramework;
import org.apache.curator.x.async.api.RemoveWatcherOption;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
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

    private static final Set<RemoveWatcherOption> LOCALLY = Set.of(RemoveWatcherOption.local);

    private final Connection connection;

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
                    Mono<List<String>> begun = connection
                            .ask(async -> readNames(async.unwrap(), path, watcher))
                            .cache();
                    return begun.flatMapMany(names -> Flux.concat(
                                    Mono.just(names), watcher.changed.asMono().then(Mono.empty())))
                            .doFinally(signal -> {
                                connection.noLonger(anew);
                                if (watcher.over.compareAndSet(false, true)) {
                                    takeBack(path, watcher, begun);
                                }
                            });
                })
                .repeat()
                .takeUntil(List::isEmpty);
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

    /**
     * Not before the answer has come: ZooKeeper's client knows a watch only from then on. Where the connection is broken the client
     * forgets it too, or it would begin the watch anew with each connection, for a subscriber that is gone.
     */
    private void takeBack(String path, Watcher watcher, Mono<?> begun) {
        Mono<Void> removal = Mono.defer(() -> connection.isClosed()
                ? Mono.empty()
                : connection.ask(async ->
                        async.removeWatches().removing(watcher, LOCALLY).forPath(path)));
        Disposable unused = FireAndForget.run(
                "taking back a watch", begun.then().onErrorComplete().then(removal));
    }

    /** All that comes and goes below a node, after {@link #BEGUN}. Any interruption is an error. */
    Flux<WatchedEvent> below(String path) {
        return Flux.create(sink -> {
            Watcher watcher = event -> {
                if (event.getType() != EventType.None) {
                    FluxSink<WatchedEvent> unused = sink.next(event);
                }
            };
            Consumer<ConnectionState> broken = state -> {
                if (!state.isConnected()) {
                    sink.error(new KeeperException.ConnectionLossException());
                }
            };
            connection.onChange(broken);
            Mono<Void> begun =
                    connection.ask(async -> begin(async, path, watcher)).cache();
            Disposable beginning = begun.subscribe(done -> {}, sink::error, () -> {
                FluxSink<WatchedEvent> unused = sink.next(BEGUN);
            });
            FluxSink<WatchedEvent> unused = sink.onDispose(() -> {
                beginning.dispose();
                connection.noLonger(broken);
                takeBack(path, watcher, begun);
            });
        });
    }

    private static CompletionStage<Void> begin(AsyncCuratorFramework async, String path, Watcher watcher) {
        return async.addWatch()
                .withMode(AddWatchMode.PERSISTENT_RECURSIVE)
                .usingWatcher(watcher)
                .forPath(path);
    }
}
