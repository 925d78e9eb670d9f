package io.github.reactivelock.zookeeper;

import io.github.reactivelock.spi.support.Departures.Rank;
import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.FireAndForget;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.x.async.AsyncCuratorFramework;
import org.apache.curator.x.async.AsyncStage;
import org.apache.curator.x.async.api.AsyncPathable;
import org.apache.curator.x.async.api.AsyncRemoveWatchesBuilder;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;
import reactor.core.publisher.Mono;

/**
 * All that comes and goes below nodes. Those who subscribe to one node share one watch, because Curator cannot take
 * back a single one where the client has a namespace. Safe for use from any thread.
 */
final class WatchesBelow {

    /** What {@link #below} emits when the watch is in force. */
    static final WatchedEvent BEGUN = new WatchedEvent(EventType.None, KeeperState.SyncConnected, null);

    private static final Duration PAUSE = Duration.ofSeconds(1);
    private static final Set<EventType> REMOVED =
            EnumSet.of(EventType.DataWatchRemoved, EventType.ChildWatchRemoved, EventType.PersistentWatchRemoved);

    private final Connection connection;
    private final Consumer<String> hasBegun;
    private final Map<String, Shared> all = new ConcurrentHashMap<>();
    /** Watches that are being taken back. */
    private final Set<Mono<Void>> leaving = ConcurrentHashMap.newKeySet();

    private volatile boolean closed;

    /** {@code hasBegun} gets each node that the server has begun to watch, however late its answer is. */
    WatchesBelow(Connection connection, Consumer<String> hasBegun) {
        this.connection = connection;
        this.hasBegun = hasBegun;
    }

    /**
     * What happens below a node, after {@link #BEGUN}. Any interruption is an error. Such a watch goes on at the server
     * until a command ends all of this session there, so the last subscriber sends it. That interrupts others there,
     * who begin anew: a {@link Watches#names}, and one that came while the last one left.
     */
    Flux<WatchedEvent> below(String path) {
        return Flux.<WatchedEvent>create(sink -> {
                    Shared shared = all.compute(path, (node, present) -> {
                        Shared joined = present == null ? new Shared(path) : present;
                        joined.sinks.add(sink);
                        return joined;
                    });
                    shared.begin(sink);
                })
                // What comes before is seen by the look that follows.
                .skipUntil(event -> event == BEGUN);
    }

    /** Ends all, and completes when the server has got the commands, or cannot get them any more. */
    Mono<Void> close() {
        return Mono.defer(() -> {
            closed = true;
            all.values().forEach(shared -> shared.fail(ZooKeeperFailure.closed()));
            Mono<Void> told = Flux.fromIterable(List.copyOf(leaving))
                    .flatMap(one -> one, Integer.MAX_VALUE)
                    .then();
            // A client that is closed does not answer what it has yet to send.
            Mono<Void> unusable = Flux.interval(PAUSE, DriverThreads.timer())
                    .takeWhile(tick -> connection.isUsable())
                    .then();
            return Mono.firstWithSignal(told, unusable);
        });
    }

    /** One watch and its subscribers. */
    private final class Shared implements Watcher, Consumer<ConnectionState> {

        final Set<FluxSink<WatchedEvent>> sinks = ConcurrentHashMap.newKeySet();
        private final String path;
        private final AtomicBoolean over = new AtomicBoolean();
        /** Curator may go on trying for longer than a command may take. */
        private final Mono<Void> sent;

        Shared(String path) {
            this.path = path;
            this.sent = connection
                    .send(Rank.LOOK, async -> add(async, path, this))
                    .doOnSuccess(done -> hasBegun.accept(path))
                    .cache();
            connection.onChange(this);
        }

        void begin(FluxSink<WatchedEvent> sink) {
            if (closed) {
                fail(ZooKeeperFailure.closed());
                return;
            }
            Disposable beginning = connection.within(sent).subscribe(done -> {}, this::fail, () -> {
                sink.next(BEGUN);
            });
            sink.onDispose(() -> {
                beginning.dispose();
                remove(sink);
            });
        }

        @Override
        public void accept(ConnectionState state) {
            if (!state.isConnected()) {
                fail(new KeeperException.ConnectionLossException());
            }
        }

        @Override
        public void process(WatchedEvent event) {
            if (REMOVED.contains(event.getType()) || event.getState() == KeeperState.Closed) {
                fail(new KeeperException.ConnectionLossException());
            } else if (event.getType() != EventType.None) {
                sinks.forEach(sink -> {
                    sink.next(event);
                });
            }
        }

        private void remove(FluxSink<WatchedEvent> sink) {
            sinks.remove(sink);
            if (all.compute(path, (node, present) -> present == this && sinks.isEmpty() ? null : present) != this) {
                takeBack();
            }
        }

        /** A subscriber that comes after this begins another one. */
        void fail(Throwable why) {
            all.remove(path, this);
            takeBack();
            sinks.forEach(sink -> sink.error(why));
        }

        /** Not before the answer has come: ZooKeeper's client knows a watch only from then on. */
        private void takeBack() {
            if (over.compareAndSet(false, true)) {
                connection.noLonger(this);
                Mono<Void> removal = Mono.defer(() -> connection.isClosed()
                        ? Mono.<Void>empty()
                        : connection.ask(
                                Rank.LOOK,
                                async -> removed(async.removeWatches(), this).forPath(path)));
                Mono<Void> told =
                        sent.onErrorComplete().then(removal).onErrorComplete().cache();
                leaving.add(told);
                FireAndForget.run("taking back a watch", told.doOnTerminate(() -> leaving.remove(told)));
            }
        }
    }

    /** A next one there is left in peace. */
    private AsyncPathable<AsyncStage<Void>> removed(AsyncRemoveWatchesBuilder which, Shared one) {
        return all.containsKey(one.path) ? which.removing(one, Watches.LOCALLY) : which.removingAll(Watches.LOCALLY);
    }

    private static CompletionStage<Void> add(AsyncCuratorFramework async, String path, Watcher watcher) {
        return async.addWatch()
                .withMode(AddWatchMode.PERSISTENT_RECURSIVE)
                .usingWatcher(watcher)
                .forPath(path);
    }
}
