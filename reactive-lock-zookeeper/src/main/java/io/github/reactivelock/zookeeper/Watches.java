package io.github.reactivelock.zookeeper;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.x.async.AsyncCuratorFramework;
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

/** Watches on nodes, each taken back when nobody waits for it any more. */
final class Watches {

    /** What {@link #below} emits when the watch is in force. */
    static final WatchedEvent BEGUN = new WatchedEvent(EventType.None, KeeperState.SyncConnected, null);

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
            Once watcher = new Once(path);
            return connection
                    .ask(async -> read(async.unwrap(), path, watcher))
                    .map(there -> there ? watcher.change() : Mono.<Void>empty())
                    .doOnCancel(watcher::takeBack);
        });
    }

    /** A watch that ends with the first change, or by being taken back. */
    private final class Once implements Watcher {

        private final String path;
        private final Sinks.Empty<Void> changed = Sinks.empty();
        private final AtomicBoolean over = new AtomicBoolean();

        Once(String path) {
            this.path = path;
        }

        @Override
        public void process(WatchedEvent event) {
            if (event.getType() != EventType.None) {
                over.set(true);
                Sinks.EmitResult unused = changed.tryEmitEmpty();
            }
        }

        Mono<Void> change() {
            return changed.asMono().doOnCancel(this::takeBack);
        }

        void takeBack() {
            if (over.compareAndSet(false, true)) {
                Watches.this.takeBack(path, this);
            }
        }
    }

    /** Curator's asynchronous face keeps its watchers to itself, so that they could not be taken back. */
    private static CompletionStage<Boolean> read(CuratorFramework client, String path, Watcher watcher) {
        CompletableFuture<Boolean> answer = new CompletableFuture<>();
        try {
            byte[] unused = client.getData()
                    .undecompressed()
                    .usingWatcher(watcher)
                    .inBackground((ignored, event) -> {
                        Code code = Code.get(event.getResultCode());
                        if (code == Code.OK || code == Code.NONODE) {
                            answer.complete(code == Code.OK);
                        } else {
                            answer.completeExceptionally(KeeperException.create(code, path));
                        }
                    })
                    .forPath(path);
        } catch (Exception e) {
            answer.completeExceptionally(e);
        }
        return answer;
    }

    private void takeBack(String path, Watcher watcher) {
        if (!connection.isClosed()) {
            Disposable unused = Detached.run(
                    "taking back a watch",
                    connection.ask(
                            async -> async.removeWatches().removing(watcher).forPath(path)));
        }
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
            Disposable begun = connection
                    .ask(async -> begin(async, path, watcher))
                    .subscribe(done -> {}, sink::error, () -> {
                        FluxSink<WatchedEvent> unused = sink.next(BEGUN);
                    });
            FluxSink<WatchedEvent> unused = sink.onDispose(() -> {
                begun.dispose();
                connection.noLonger(broken);
                takeBack(path, watcher);
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
