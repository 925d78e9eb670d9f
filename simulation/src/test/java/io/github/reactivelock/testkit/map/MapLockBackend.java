package io.github.reactivelock.testkit.map;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.FireAndForget;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.LossReason;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * Locks in an {@link OrderedMap}.
 *
 * <ol>
 *   <li><b>Names.</b> A lock is a few versions of its state, {@code KEY/0000000000000000042}, where KEY is the user's
 *   key
 *       percent-encoded, so that no two locks share a range. The last version is the lock; the newest is never deleted,
 *       because it keeps the count that makes the fencing token.
 *   <li><b>One atomic step.</b> A verb reads the last version, makes the next state of it and puts that under the next
 *       number if it is absent. The second writer finds it there and begins again. That is a compare-and-set made of
 *       {@code putIfAbsent}, and all of the mutual exclusion there is.
 *   <li><b>Waiting.</b> The map pushes nothing. A waiting claim is told to ask again soon, and each question keeps its
 *   place
 *       alive.
 *   <li><b>Events.</b> A watcher reads the versions that are new since it looked last.
 * </ol>
 *
 * <p>Guarantees: those of the map, whose clock counts the leases. A lease begins no later than the question that asked
 * for it was answered, and no earlier than it was sent, which is what the engine relies on.
 */
final class MapLockBackend implements LockBackend {

    /** How many versions are kept: for watchers, and for writers that are late. */
    static final int KEPT = 16;

    private static final Duration POLL = Duration.ofMillis(20);

    private final OrderedMap<LockState> map;
    private final Map<String, Sinks.Empty<Void>> lastSteps = new ConcurrentHashMap<>();

    MapLockBackend(OrderedMap<LockState> map) {
        this.map = map;
    }

    @Override
    public String toString() {
        return "map of the test";
    }

    @Override
    public Mono<ClaimResult> claim(Claim claim) {
        return step(claim.key(), (lock, now) -> lock.claimed(claim, now)).map(step -> step.after.answer(claim, POLL));
    }

    @Override
    public Mono<Boolean> release(Claim claim) {
        return step(claim.key(), (lock, now) -> lock.without(claim, now)).map(step -> step.before.isOwnedBy(claim));
    }

    @Override
    public Mono<Boolean> forceRelease(String key, long fencingToken) {
        return step(key, (lock, now) -> lock.forced(fencingToken, now))
                .map(step -> step.before.isInForce(fencingToken));
    }

    @Override
    public Mono<Boolean> keep(Claim held, Claim kept) {
        return step(held.key(), (lock, now) -> lock.kept(held, kept, now)).map(step -> step.after.isOwnedBy(kept));
    }

    /** This store has no command for several locks. */
    @Override
    public Mono<RenewalResult> renew(List<Claim> held) {
        Set<String> renewed = ConcurrentHashMap.newKeySet();
        Map<String, LossReason> lost = new ConcurrentHashMap<>();
        return Flux.fromIterable(held)
                .flatMap(claim -> step(claim.key(), (lock, now) -> lock.renewed(claim, now))
                        .doOnNext(step -> {
                            if (step.after.isOwnedBy(claim)) {
                                renewed.add(claim.id());
                            } else {
                                lost.put(claim.id(), LossReason.EXPIRED);
                            }
                        }))
                .then(Mono.fromSupplier(() -> new RenewalResult(renewed, lost)));
    }

    @Override
    public Mono<LockInfo> inspect(String key) {
        return look(key).map(look -> look.state().info(key, look.now));
    }

    @Override
    public Flux<LockEvent> events(String key) {
        Flux<Look> looks = look(key).repeatWhen(looked -> looked.delayElements(POLL, DriverThreads.timer()));
        return Flux.concat(Mono.just(Look.NONE), looks)
                .buffer(2, 1)
                .filter(pair -> pair.size() == 2)
                .flatMapIterable(pair -> pair.get(1).since(pair.get(0), key));
    }

    /** The engine is told once that it can listen; nothing comes. */
    @Override
    public Flux<Signal> signals() {
        return Flux.concat(Mono.just(new Signal.Reconnected()), Flux.never());
    }

    @Override
    public Mono<Void> close() {
        return Mono.empty(); // nothing was opened here
    }

    /** What a step found, as it is once leases that are over are settled, and what it made of that. */
    private record Step(LockState before, LockState after) {}

    /** The rule makes the next state of the present one and the time; the same one if there is nothing to change. */
    private Mono<Step> step(String key, BiFunction<LockState, Long, LockState> rule) {
        return inTurn(
                key,
                look(key)
                        .flatMap(look -> {
                            Step step = new Step(look.state().settled(look.now), rule.apply(look.state(), look.now));
                            return step.after.equals(look.state())
                                    ? Mono.just(step)
                                    : put(key, look.number() + 1, step.after).map(put -> step);
                        })
                        .repeatWhenEmpty(again -> again)); // another client was first
    }

    /**
     * The steps of one client follow one another, because a crowd of them would be in each other's way. A cancelled one
     * goes on.
     */
    private Mono<Step> inTurn(String key, Mono<Step> step) {
        return Mono.defer(() -> {
            Sinks.Empty<Void> end = Sinks.empty();
            Sinks.Empty<Void> before = lastSteps.put(key, end);
            Mono<Step> turn = (before == null ? step : before.asMono().then(step))
                    .doFinally(signal -> {
                        lastSteps.remove(key, end);
                        end.emitEmpty(Sinks.EmitFailureHandler.FAIL_FAST);
                    })
                    .cache();
            FireAndForget.run("a step", turn);
            return turn;
        });
    }

    /**
     * Empty if the number is taken. A number that was taken may be free again, if its version was forgotten meanwhile:
     * only a writer that is {@link #KEPT} versions late can meet that. It sees how late it is and answers with an
     * error, which says what an answer that was lost would say as well: ask again.
     */
    private Mono<Boolean> put(String key, long number, LockState state) {
        return map.putIfAbsent(name(key, number), state)
                .filter(put -> put)
                .flatMap(put -> map.range(name(key, number + KEPT), end(key)))
                .flatMap(later -> later.isEmpty()
                        ? map.delete(name(key, 0), name(key, Math.max(0, number - KEPT)))
                                .thenReturn(true)
                        : Mono.error(new IllegalStateException("the map was too slow for '" + key + "'; ask again")));
    }

    private static String name(String key, long number) {
        return URLEncoder.encode(key, StandardCharsets.UTF_8) + "/" + String.format("%019d", number);
    }

    /** Behind all versions of a key: the sign after the slash. */
    private static String end(String key) {
        return URLEncoder.encode(key, StandardCharsets.UTF_8) + "0";
    }

    private Mono<Look> look(String key) {
        return Mono.zip(map.clock(), map.range(name(key, 0), end(key)), Look::new);
    }

    /** The versions of a lock that are kept, and the store's time when they were asked for. */
    private record Look(long now, SortedMap<String, LockState> versions) {

        /** Before a watcher has looked. */
        static final Look NONE = new Look(0, new TreeMap<>(Map.of("/" + -KEPT, LockState.NEW)));

        LockState state() {
            return versions.isEmpty() ? LockState.NEW : versions.get(versions.lastKey());
        }

        long number() {
            String name = versions.isEmpty() ? "/0" : versions.lastKey();
            return Long.parseLong(name.substring(name.lastIndexOf('/') + 1));
        }

        /** A snapshot at first, and after a pause in which more happened than is kept. */
        List<LockEvent> since(Look before, String key) {
            if (number() - before.number() >= KEPT) {
                return List.of(new LockEvent.Snapshot(state().info(key, now)));
            }
            List<LockEvent> events = new ArrayList<>();
            LockState last = before.state();
            for (LockState next :
                    versions.tailMap(name(key, before.number() + 1)).values()) {
                events.addAll(last.eventsUntil(next, key));
                last = next;
            }
            return events;
        }
    }
}
