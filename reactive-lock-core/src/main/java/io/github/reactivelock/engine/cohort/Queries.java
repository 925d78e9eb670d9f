package io.github.reactivelock.engine.cohort;

import static io.github.reactivelock.spi.LockBackend.READY_KEY;

import io.github.reactivelock.LockClientClosedException;
import io.github.reactivelock.LockException;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.engine.store.Services;
import io.github.reactivelock.spi.FencingTokens;
import io.github.reactivelock.spi.LockPage;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * What can be asked of a store about a lock without taking part in it. An error here decides something, so
 * {@code onErrorContinue} of a subscriber, which its Context would bring, ends before it.
 */
public final class Queries {

    private static final Duration SHORTEST_PAUSE = Duration.ofMillis(10);
    private static final String FORCE = "released by force";

    private final Engine engine;
    private final Services services;

    public Queries(Engine engine) {
        this.engine = engine;
        this.services = engine.services;
    }

    /** The store is connected, and would grant locks as far as it can be asked. */
    public Mono<Void> ready() {
        return asked(
                        READY_KEY,
                        "asked",
                        () -> connected().then(timed(() -> services.backend.probe(READY_KEY), silence(READY_KEY))))
                .takeUntilOther(refusal(engine.end, READY_KEY))
                .onErrorMap(
                        e -> !(e instanceof LockException),
                        e -> engine.isClosed()
                                ? new LockClientClosedException(READY_KEY)
                                : new LockUnavailableException(READY_KEY, e))
                .publishOn(services.userCallbacks.work())
                .onErrorStop();
    }

    public Mono<LockInfo> inspect(String key) {
        return question(key, "inspected", () -> services.backend.inspect(key));
    }

    /** Part after part; the next is asked for when the one before has been taken. */
    public Flux<LockInfo.Held> list(String prefix) {
        return Flux.defer(() -> {
                    Place place = new Place();
                    return question(
                                    prefix + "…",
                                    "listed",
                                    () -> services.backend.list(prefix, place.next),
                                    services.gate::silence)
                            .doOnNext(page -> place.next = page.next())
                            .repeat(() -> !place.next.isEmpty())
                            .concatMapIterable(LockPage::locks, 1);
                })
                .onErrorStop();
    }

    public Mono<Boolean> forceRelease(String key) {
        return question(
                key,
                FORCE,
                () -> services.backend
                        .inspect(key)
                        .flatMap(seen -> seen instanceof LockInfo.Held held ? forceRelease(held) : Mono.just(false)));
    }

    /** All grants that were seen, one after the other. */
    private Mono<Boolean> forceRelease(LockInfo.Held held) {
        LockInfo.Shares shares = held.shares();
        return shares == null
                ? services.backend.forceRelease(held.key(), held.fencingToken())
                : Flux.fromIterable(shares.first())
                        .concatMapDelayError(holder -> services.backend.forceRelease(held.key(), holder.fencingToken()))
                        .reduce(false, Boolean::logicalOr);
    }

    public Mono<Boolean> forceRelease(String key, long fencingToken) {
        return question(key, FORCE, () -> services.backend.forceRelease(key, FencingTokens.granted(fencingToken)));
    }

    public Mono<Boolean> isCurrent(String key, long fencingToken) {
        return question(key, "asked about", () -> services.backend.isCurrent(key, FencingTokens.granted(fencingToken)));
    }

    public Flux<LockEvent> events(String key) {
        return Flux.defer(() -> {
                    LockException refused = engine.refusalOf(key, "watched");
                    return refused == null ? services.backend.events(key) : Flux.error(refused);
                })
                // An end in the form of an error would leave the store's stream open behind it.
                .takeUntilOther(engine.closing.asMono())
                .concatWith(Mono.defer(() ->
                        engine.isClosed() ? Mono.<LockEvent>error(new LockClientClosedException(key)) : Mono.empty()))
                .onErrorMap(e -> !(e instanceof LockException), e -> failure(key, "watched", e))
                .publishOn(services.userCallbacks.work())
                .onErrorStop();
    }

    private <T> Mono<T> question(String key, String action, Supplier<Mono<T>> question) {
        return question(key, action, question, silence(key));
    }

    private <T> Mono<T> question(
            String key, String action, Supplier<Mono<T>> question, Supplier<TimeoutException> silence) {
        return asked(key, action, () -> connected().then(timed(question, silence)))
                .takeUntilOther(refusal(engine.end, key))
                .onErrorMap(e -> !(e instanceof LockException), e -> failure(key, action, e))
                .publishOn(services.userCallbacks.work())
                .onErrorStop();
    }

    private <T> Mono<T> asked(String key, String action, Supplier<Mono<T>> question) {
        return Mono.defer(() -> {
            LockException refused = engine.refusalOf(key, action);
            return refused == null ? question.get() : Mono.error(refused);
        });
    }

    /** Ends what a store that is closed need not end: its streams have no end, and the timer has one. */
    private static Mono<Void> refusal(Sinks.Empty<Void> closed, String key) {
        return closed.asMono().then(Mono.error(() -> new LockClientClosedException(key)));
    }

    private LockException failure(String key, String action, Throwable cause) {
        return engine.isClosed()
                ? new LockClientClosedException(key)
                : new LockUnavailableException(key, action, cause);
    }

    /** The first connection has a time of its own. */
    private Mono<Void> connected() {
        return Mono.defer(() -> services.backend.isReady() ? Mono.empty() : services.gate.opening.connected());
    }

    private Supplier<TimeoutException> silence(String key) {
        return () -> services.gate.silence(key);
    }

    private <T> Mono<T> timed(Supplier<Mono<T>> question, Supplier<TimeoutException> silence) {
        return services.timing.answeredIn(
                Duration.ofNanos(services.timing.commandTimeout), Mono.defer(question), silence);
    }

    public Mono<Void> awaitRelease(String key) {
        return Flux.defer(() -> {
                    FirstGrant first = new FirstGrant();
                    return events(key)
                            // What ends nothing must not end the look at the snapshot's lease either.
                            .filter(event -> event instanceof LockEvent.Snapshot || first.isOver(event))
                            .switchMap(event -> follow(first, event))
                            .filter(first::isOver);
                })
                // The timer is gone where a snapshot comes while the client is being closed.
                .onErrorMap(e -> !(e instanceof LockException), e -> failure(key, "watched", e))
                .next()
                .then()
                .onErrorStop();
    }

    /** What is only kept is called back (rule 9 of retention); that may fail, and the release is awaited even so. */
    private Mono<Void> recalled(LockInfo.Held held) {
        return held.recallable()
                ? connected()
                        .then(timed(() -> services.backend.recall(held.key()), silence(held.key())))
                        .onErrorComplete()
                : Mono.empty();
    }

    /** A snapshot is looked at again when its lease ends, because a store need not announce that. */
    private Flux<LockEvent> follow(FirstGrant first, LockEvent event) {
        if (!(event instanceof LockEvent.Snapshot snapshot)) {
            return Flux.just(event);
        }
        return Mono.just(snapshot)
                .expand(seen -> {
                    if (!(seen.info() instanceof LockInfo.Held held) || first.isOver(seen)) {
                        return Mono.empty();
                    }
                    Duration pause = held.remaining().compareTo(SHORTEST_PAUSE) < 0 ? SHORTEST_PAUSE : held.remaining();
                    return Mono.when(recalled(held), services.timing.delay(pause))
                            .then(inspect(held.key()))
                            .map(LockEvent.Snapshot::new);
                })
                .cast(LockEvent.class);
    }

    /** How far a list has come. Used by one subscription, one part at a time. */
    private static final class Place {
        private volatile String next = "";
    }

    /**
     * The grant that an {@code awaitRelease} waits for: the first one it sees. What was pushed of grants before it may
     * be heard after the snapshot. Used by one subscription at a time.
     */
    private static final class FirstGrant {
        private long fencingToken;
        private boolean isShare;

        boolean isOver(LockEvent event) {
            if (event instanceof LockEvent.Snapshot snapshot) {
                if (!(snapshot.info() instanceof LockInfo.Held held)) {
                    return true;
                }
                if (fencingToken == 0) {
                    fencingToken = held.fencingToken();
                    isShare = held.shares() != null;
                }
                return isGoneFrom(held);
            }
            if (fencingToken == 0) { // a store that tells of changes before it says where they begin
                return false;
            }
            if (event instanceof LockEvent.Released released) {
                return isWhole(released.units())
                        ? released.fencingToken() >= fencingToken
                        : released.fencingToken() == fencingToken;
            }
            LockEvent.Acquired acquired = (LockEvent.Acquired) event;
            return acquired.fencingToken() > fencingToken && (!isShare || isWhole(acquired.units()));
        }

        /**
         * A number that is lower is of no later grant: a node of a quorum may show that of its vote. Others may have
         * come to a lock that is shared, and so many that this one is not shown any more.
         */
        private boolean isGoneFrom(LockInfo.Held held) {
            LockInfo.Shares shares = held.shares();
            if (shares == null || !isShare) {
                return held.fencingToken() > fencingToken;
            }
            return shares.holders() == shares.first().size()
                    && shares.first().stream().noneMatch(holder -> holder.fencingToken() == fencingToken);
        }

        private static boolean isWhole(int units) {
            return units == Share.WHOLE.units();
        }
    }
}
