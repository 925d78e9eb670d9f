package io.github.reactivelock.zookeeper;

import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.support.EndlessRetry;
import io.github.reactivelock.spi.support.FireAndForget;
import io.github.reactivelock.spi.support.SignalListeners;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.curator.framework.state.ConnectionState;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * What is pushed to this client: grants that its own watches found, and notices that other clients put into its notice
 * node, which is how a forced release or a recall reaches the owner. A notice takes the place of the one before; the
 * version of the node tells whether one was missed. The node is watched for as long as there is a subscriber.
 */
final class SignalSink {

    private static final Duration FIRST_PAUSE = Duration.ofMillis(50);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);
    private static final String RECALL = "recall ";

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

    /** A notice for a client that should give a claim back. */
    static String recall(String claimId) {
        return RECALL + claimId;
    }

    /** What is pushed, with each notice turned into signals: where it is not a recall, by a look at the claims. */
    Flux<Signal> signals(Supplier<Flux<Signal>> look) {
        return Flux.merge(listeners.signals(), connections().switchMap(connected -> noticed(connected, look)));
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

    /** Recalls arrive when there is a node for them. */
    private Flux<Signal> noticed(Signal connected, Supplier<Flux<Signal>> look) {
        return Mono.defer(this::makeNotice)
                .thenMany(Flux.concat(Mono.just(connected), notices(look)))
                .retryWhen(EndlessRetry.after(FIRST_PAUSE, LONGEST_PAUSE).filter(error -> !connection.isClosed()));
    }

    /** The notices written so far, and each that follows; ends with an error when the node is gone. */
    private Flux<Signal> notices(Supplier<Flux<Signal>> look) {
        return Flux.defer(() -> {
            AtomicInteger known = new AtomicInteger(-1);
            return Flux.defer(() -> watches.watch(notice.get())
                            .flatMapMany(now -> Flux.concat(
                                    news(now, known, look), now.change().then(Mono.empty()))))
                    .repeat();
        });
    }

    private static Flux<Signal> news(Watches.Watched now, AtomicInteger known, Supplier<Flux<Signal>> look) {
        if (!now.isThere()) {
            return Flux.error(new IllegalStateException("the notice node is gone"));
        }
        int before = known.getAndSet(now.version());
        String text = now.text();
        if (text.isEmpty() || now.version() == before) {
            return Flux.empty();
        }
        return text.startsWith(RECALL) && now.version() == before + 1
                ? Flux.just(new Signal.Recall(text.substring(RECALL.length())))
                : look.get();
    }
}
