package io.github.reactivelock.consul;

import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.FireAndForget;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Follows claims that wait until they are in. One for the whole, or behind one for the whole, watches the one key that
 * keeps it out. One that waits for units looks at the line whenever that changes, with one watch for all of them on a
 * lock.
 */
final class Followers {

    private static final Duration PAUSE_AFTER_A_BROKEN_WATCH = Duration.ofMillis(100);

    private final Keys keys;
    private final Watches watches;
    private final KeyLayout names;
    private final SignalSink pushes;
    private final Session session;
    private final Expiries expiries;
    /** Those of claims of this client that have not ended. */
    private final Map<String, ClaimState> states;

    private final Map<String, Flux<Line>> lines = new ConcurrentHashMap<>();

    Followers(
            Keys keys,
            Watches watches,
            KeyLayout names,
            SignalSink pushes,
            Session session,
            Expiries expiries,
            Map<String, ClaimState> states) {
        this.states = states;
        this.keys = keys;
        this.watches = watches;
        this.names = names;
        this.pushes = pushes;
        this.session = session;
        this.expiries = expiries;
    }

    /** The claim is in; false if that is no news of ours. */
    boolean own(ClaimState state, Entry key) {
        boolean owns = state.own(key);
        if (owns) {
            expiries.begin(state, key);
        }
        return owns;
    }

    void follow(ClaimState state, Entry key, QueuePosition position) {
        Entry obstacle = position.obstacle();
        Disposable.Swap watch = state.follow(obstacle == null ? ClaimState.THE_LINE : obstacle.key());
        if (watch == null) {
            return;
        }
        String lock = state.claim.key();
        Mono<Line> moved = obstacle == null
                ? line(lock).filter(line -> isIn(state, key, line)).next()
                : untilChanged(obstacle).then(Mono.empty());
        Mono<Void> news = moved.onErrorResume(error -> Mono.delay(PAUSE_AFTER_A_BROKEN_WATCH, DriverThreads.timer())
                        .then(Mono.empty()))
                .doOnNext(line -> state.followed(watch))
                .switchIfEmpty(Mono.defer(() -> {
                    state.followed(watch);
                    return keys.line(lock);
                }))
                .flatMap(line -> moved(state, key, position(state, line)))
                .onErrorResume(error -> Mono.delay(PAUSE_AFTER_A_BROKEN_WATCH, DriverThreads.timer())
                        .thenReturn(new Signal.Recheck(lock)))
                .doOnNext(pushes::push)
                .then();
        watch.update(FireAndForget.cancellable("waiting for a lock in Consul", news));
    }

    /** What becomes of a claim of this client is known here, so a crowd of waiters needs one watch. */
    private Mono<Void> untilChanged(Entry obstacle) {
        ClaimState before = states.get(obstacle.claimId());
        Mono<Void> over = before == null ? null : before.untilOver(obstacle);
        return over == null ? watches.untilChanged(obstacle) : over;
    }

    /**
     * The line now and after each change. A later subscriber gets the latest line first, perhaps from before its own
     * claim, but its own claim is a change too.
     */
    private Flux<Line> line(String lock) {
        return lines.computeIfAbsent(
                lock,
                absent -> watches.below(names.lock(lock))
                        .map(Line::of)
                        .doFinally(signal -> lines.remove(lock))
                        .replay(1)
                        .refCount());
    }

    /** A reading that is older than the key may show one that was given up. */
    private static boolean isIn(ClaimState state, Entry key, Line line) {
        QueuePosition position = position(state, line);
        return position.isIn() && position.isOf(key);
    }

    private static QueuePosition position(ClaimState state, Line line) {
        return QueuePosition.of(state.claim.id(), line);
    }

    private Mono<Signal> moved(ClaimState state, Entry key, QueuePosition position) {
        if (position.own() == null) {
            return state.vanished(key, LossReason.EXPIRED)
                    ? Mono.just(new Signal.Recheck(state.claim.key()))
                    : Mono.empty();
        }
        if (!position.isOf(key)) {
            return Mono.just(new Signal.RecheckClaim(state.claim.id()));
        }
        if (!position.isIn()) {
            follow(state, key, position);
            return Mono.empty();
        }
        if (!session.isFresh()) { // the answer to the claim renews it before
            return Mono.just(new Signal.RecheckClaim(state.claim.id()));
        }
        Duration reliable = session.reliable();
        return own(state, key) ? Mono.just(new Signal.Grant(state.claim.id(), key.token(), reliable)) : Mono.empty();
    }
}
