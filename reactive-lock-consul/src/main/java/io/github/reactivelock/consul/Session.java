package io.github.reactivelock.consul;

import io.github.reactivelock.spi.support.Departures.Rank;
import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.FireAndForget;
import io.github.reactivelock.spi.support.SuspendClock;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The one session of this client, made when it is first needed, and kept alive from then on. Consul ends it at some
 * moment between one and two times its TTL after the last renewal, never before, and with it all keys that it has.
 * Safe for use from any thread.
 */
final class Session {

    private static final Logger log = LoggerFactory.getLogger(Session.class);

    /**
     * The node of the catalog that sessions belong to. An agent's node is removed when the agent leaves, and a dead
     * server's after some seconds, with its sessions, although their TTL is not over.
     */
    static final String NODE = "reactive-lock";

    /** Divides the TTL: two renewals may be lost. */
    private static final int BEATS = 3;

    private static final LongSupplier CLOCK = new SuspendClock()::lookAndTell;

    private final Agents agents;
    private final ConsulBackendOptions options;
    private final AtomicReference<@Nullable Making> present = new AtomicReference<>();
    /** No session is made after that of a backend that is closed. */
    private final Making none = new Making(Mono.error(ConsulFailure::closed));

    private final Set<Consumer<String>> listeners = new CopyOnWriteArraySet<>();
    private final Disposable.Swap beats = Disposables.swap();

    /** One session, once its id is known. One that could not be made makes way for another. */
    private final class Making {
        final Mono<String> id;
        volatile String known = "";
        /** When the last question left that was answered. */
        private final AtomicLong renewed = new AtomicLong();

        Making(Mono<String> source) {
            this.id = Mono.defer(() -> {
                        renewed.set(CLOCK.getAsLong());
                        return source;
                    })
                    .doOnNext(made -> known = made)
                    .doOnError(
                            error -> !ConsulFailure.is(error, ConsulFailure.Kind.CLOSED),
                            error -> present.compareAndSet(this, null))
                    .cache();
        }

        void renewedAt(long sent) {
            renewed.accumulateAndGet(sent, (one, other) -> one - other > 0 ? one : other);
        }
    }

    Session(Agents agents, ConsulBackendOptions options) {
        this.agents = agents;
        this.options = options;
    }

    /** Adds a listener, which gets the ids of sessions that have ended. */
    void onEnd(Consumer<String> listener) {
        listeners.add(listener);
    }

    /** The id of the present session. */
    Mono<String> id() {
        return Mono.defer(() -> {
            Making known = present.get();
            if (known != null) {
                return known.id;
            }
            Making fresh = new Making(make());
            return present.compareAndSet(null, fresh) ? fresh.id : id();
        });
    }

    /** Only a session with checks belongs to the agent's node, which has them. */
    private Mono<String> make() {
        String node = options.checks().isEmpty() ? NODE : "";
        Mono<Answer> first =
                node.isEmpty() ? Mono.empty() : done(Question.put(Rank.HOLD, "catalog/register", Json.node(node)));
        return first.then(done(Question.put(
                        Rank.HOLD, "session/create", Json.session(options.sessionTtl(), options.checks(), node))))
                .map(answer -> Json.sessionId(answer.body()))
                .doOnNext(id -> {
                    beats.update(FireAndForget.cancellable("keeping a session in Consul", keepAlive(id)));
                });
    }

    private Mono<Answer> done(Question question) {
        return agents.ask(question).doOnNext(answer -> {
            if (answer.status() != Answer.OK) {
                throw refused(answer);
            }
        });
    }

    private Mono<Void> keepAlive(String id) {
        return Flux.interval(options.sessionTtl().dividedBy(BEATS), DriverThreads.timer())
                .onBackpressureDrop()
                .concatMap(beat -> renew(id).onErrorReturn(true))
                .takeWhile(alive -> alive)
                .then();
    }

    /** How long the session lasts from now on, at least; zero if there is none. */
    Duration reliable() {
        Making known = present.get();
        if (known == null || known.known.isEmpty()) {
            return Duration.ZERO;
        }
        Duration left = options.sessionTtl().minusNanos(CLOCK.getAsLong() - known.renewed.get());
        return left.isNegative() ? Duration.ZERO : left;
    }

    /** Whether a hold may begin without a renewal before. */
    boolean isFresh() {
        return reliable().compareTo(options.sessionTtl().dividedBy(2)) > 0;
    }

    /** Renews the session if it has not been renewed for long; false if it has ended. */
    Mono<Boolean> freshened(String id) {
        return Mono.defer(() -> isFresh() ? Mono.just(true) : renew(id));
    }

    /** Asks Consul to keep a session of this client; false if that has ended. */
    Mono<Boolean> renew(String id) {
        return Mono.defer(() -> renew(id, CLOCK.getAsLong()));
    }

    private Mono<Boolean> renew(String id, long sent) {
        return agents.ask(Question.put(Rank.HOLD, "session/renew/" + id)).map(answer -> switch (answer.status()) {
            case Answer.OK -> {
                Making known = present.get();
                if (known == null || !known.known.equals(id)) {
                    yield false;
                }
                known.renewedAt(sent);
                yield true;
            }
            case Answer.NOT_FOUND -> {
                ended(id);
                yield false;
            }
            default -> throw refused(answer);
        });
    }

    /** Consul does not know this session any more. */
    void ended(String id) {
        Making known = present.get();
        if (known != null && known.known.equals(id) && present.compareAndSet(known, null)) {
            log.info("a session in Consul at {} has ended, and the locks of this client with it", agents.names());
            listeners.forEach(listener -> listener.accept(id));
        }
    }

    /** Ends the session, which removes all that this client has made. */
    Mono<Void> destroy() {
        return Mono.defer(() -> {
            beats.dispose();
            Making known = present.getAndSet(none);
            return known == null
                    ? Mono.empty()
                    : known.id
                            .flatMap(id -> agents.ask(Question.put(Rank.HOLD, "session/destroy/" + id)))
                            .then();
        });
    }

    private ConsulFailure refused(Answer answer) {
        return ConsulFailure.refused(agents.names(), options.prefix(), answer.status(), answer.body());
    }
}
