package io.github.reactivelock.zookeeper;

import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.support.EndlessRetry;
import io.github.reactivelock.spi.support.FireAndForget;
import io.github.reactivelock.spi.support.SignalListeners;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.curator.framework.state.ConnectionState;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * What is pushed to this client: grants that its own watches found, and notices that other clients put into its notice
 * node, which is how a forced release reaches the owner. The node is watched for as long as there is a subscriber.
 */
final class SignalSink {

    private static final Duration FIRST_PAUSE = Duration.ofMillis(50);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

    private final Connection connection;
    private final Nodes nodes;
    private final Watches watches;
    private final Supplier<String> notice;
    /** The latest making of the notice node, which goes on after its subscriber has left. */
    private volatile Mono<Void> made = Mono.empty();

    private final SignalListeners listeners = new SignalListeners();

    SignalSink(Connection connection, Nodes nodes, Supplier<String> notice) {
        this.connection = connection;
        this.nodes = nodes;
        this.watches = new Watches(connection);
        this.notice = notice;
    }

    void push(Signal signal) {
        listeners.push(signal);
    }

    /** What is pushed, with each notice of a forced release turned into signals by looking which holds are over. */
    Flux<Signal> signals(Supplier<Flux<Signal>> forced) {
        return Flux.merge(
                listeners.signals(),
                connections().switchMap(connected -> Flux.concat(Mono.just(connected), noticed(forced))));
    }

    void close(Throwable reason) {
        listeners.close(reason);
    }

    /** The node is made in several steps, and goes on to be; its deletion must not come between them. */
    Mono<Void> removeNotice(Removals removals) {
        return Mono.defer(
                () -> made.onErrorComplete().then(removals.remove(notice.get())).then());
    }

    private Mono<Void> makeNotice() {
        Mono<Void> making = nodes.makeNotice(notice.get()).cache();
        made = making;
        return making;
    }

    /** Emits when the connection is there, and each time it is there again, with or without its session. */
    private Flux<Signal> connections() {
        return Flux.create(sink -> {
            AtomicBoolean heard = new AtomicBoolean();
            Consumer<ConnectionState> listener = state -> {
                if (state.isConnected()) {
                    heard.set(true);
                    sink.next(new Signal.Reconnected());
                }
            };
            connection.onChange(listener);
            // A client that was connected before, by another command or by the user, does not report it any more.
            Mono<Long> opened = connection.session().doOnNext(session -> {
                if (connection.isConnected() && !heard.get()) {
                    listener.accept(ConnectionState.CONNECTED);
                }
            });
            Disposable opening = FireAndForget.cancellable("connecting to ZooKeeper", opened);
            sink.onDispose(() -> {
                opening.dispose();
                connection.noLonger(listener);
            });
        });
    }

    private Flux<Signal> noticed(Supplier<Flux<Signal>> forced) {
        return Mono.defer(this::makeNotice)
                .thenMany(Flux.defer(() -> untilNext(forced)).repeat())
                .retryWhen(EndlessRetry.after(FIRST_PAUSE, LONGEST_PAUSE).filter(error -> !connection.isClosed()));
    }

    /** The notices written so far; completes when there are more, and ends with an error when the node is gone. */
    private Flux<Signal> untilNext(Supplier<Flux<Signal>> forced) {
        Mono<String> text = nodes.read(notice.get())
                .switchIfEmpty(Mono.error(() -> new IllegalStateException("the notice node is gone")))
                .map(read -> read.content().owner());
        return watches.watch(notice.get())
                .flatMapMany(change -> Flux.concat(
                        text.filter(claimId -> !claimId.isEmpty()).flatMapMany(claimId -> forced.get()),
                        change.then(Mono.empty())));
    }
}
