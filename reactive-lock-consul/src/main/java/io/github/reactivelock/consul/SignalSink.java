package io.github.reactivelock.consul;

import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.support.EndlessRetry;
import io.github.reactivelock.spi.support.SignalListeners;
import java.time.Duration;
import java.util.function.Supplier;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * What is pushed to this client: grants that its own watches found, and notices that other clients put into its notice
 * key, which is how a forced release or a recall reaches the owner. A notice takes the place of the one before; how
 * often the key was acquired tells whether one was missed. The key is watched for as long as there is a subscriber.
 */
final class SignalSink {

    private static final Duration FIRST_PAUSE = Duration.ofMillis(50);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);
    private static final String RECALL = "recall ";

    private final Agents agents;
    private final ClaimKeys keys;
    private final Watches watches;
    private final Session session;
    private final Supplier<String> notice;
    private final SignalListeners listeners = new SignalListeners();

    private volatile boolean hears;

    SignalSink(Agents agents, ClaimKeys keys, Watches watches, Session session, Supplier<String> notice) {
        this.agents = agents;
        this.keys = keys;
        this.watches = watches;
        this.session = session;
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
        return Flux.merge(listeners.signals(), noticed(look));
    }

    /** Whether notices arrive, as far as is known: a question for them is at an agent. */
    boolean hears() {
        return hears;
    }

    void close(Throwable reason) {
        listeners.close(reason);
    }

    private Flux<Signal> noticed(Supplier<Flux<Signal>> look) {
        // What is kept has to know of the interruption before it may be used again.
        Mono<Signal> heard = Mono.fromRunnable(() -> hears = true);
        return makeNotice()
                .flatMapMany(made ->
                        Flux.concat(Mono.just(new Signal.Reconnected()), heard, look.get(), afterNotices(made, look)))
                .doOnError(error -> hears = false)
                .retryWhen(EndlessRetry.after(FIRST_PAUSE, LONGEST_PAUSE).filter(error -> !agents.isClosed()));
    }

    private Mono<Entry> makeNotice() {
        return session.id()
                .flatMap(id -> keys.own(notice.get(), id, "")
                        .doOnError(
                                error -> ConsulFailure.is(error, ConsulFailure.Kind.SESSION_ENDED),
                                error -> session.ended(id)));
    }

    /** What every notice from now on is about; ends with an error when the key is gone, or cannot be watched. */
    private Flux<Signal> afterNotices(Entry made, Supplier<Flux<Signal>> look) {
        return Flux.defer(() -> {
            Entry[] latest = {made};
            return Flux.defer(() -> watches.untilChanged(latest[0])
                            .then(keys.read(made.key()))
                            .switchIfEmpty(Mono.error(() -> new IllegalStateException("the notice key is gone")))
                            .flatMapMany(changed -> {
                                Entry before = latest[0];
                                latest[0] = changed;
                                return news(before, changed, look);
                            }))
                    .repeat();
        });
    }

    private static Flux<Signal> news(Entry before, Entry changed, Supplier<Flux<Signal>> look) {
        return changed.value().startsWith(RECALL) && changed.acquired() == before.acquired() + 1
                ? Flux.just(new Signal.Recall(changed.value().substring(RECALL.length())))
                : look.get();
    }
}
