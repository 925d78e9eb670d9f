package io.github.reactivelock.redis;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.support.SilenceClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Renews many claims with a script call for each slot, none of which waits for another. */
final class Renewal {

    static final int AT_ONCE = 500;
    private static final Duration LONGEST = Duration.ofSeconds(1);
    private static final RenewalResult UNKNOWN = new RenewalResult(Set.of(), Map.of());

    private final RedisConnection connection;
    private final KeyLayout names;
    private final SilenceClock silenceClock;
    private final Function<List<Claim>, Mono<RenewalResult>> batch;

    /** The function renews claims that share a slot. */
    Renewal(
            RedisConnection connection,
            KeyLayout names,
            SilenceClock silenceClock,
            Function<List<Claim>, Mono<RenewalResult>> batch) {
        this.silenceClock = silenceClock;
        this.connection = connection;
        this.names = names;
        this.batch = batch;
    }

    Mono<RenewalResult> renew(List<Claim> held) {
        List<List<Claim>> batches = batches(held);
        return batches.size() == 1 ? batch(batches.get(0)) : parts(batches, held);
    }

    /** A slot on the move serves one key at a time. */
    private Mono<RenewalResult> batch(List<Claim> claims) {
        return batch.apply(claims)
                .onErrorResume(
                        error -> claims.size() > 1 && RedisFailure.isPassing(error),
                        error -> parts(claims.stream().map(List::of).toList(), claims));
    }

    /** All at once, and not for longer than leaves time to ask again: a dead shard must not hold up the others. */
    private Mono<RenewalResult> parts(List<List<Claim>> batches, List<Claim> held) {
        return Mono.defer(() -> {
            AtomicReference<Throwable> failure = new AtomicReference<>();
            return Flux.fromIterable(batches)
                    .flatMap(
                            part -> batch(part)
                                    .doOnError(failure::set)
                                    .onErrorResume(error -> Mono.just(refused(part, error))),
                            batches.size(),
                            1)
                    .takeUntilOther(silenceClock.silence(patience(held)))
                    .reduce(UNKNOWN, RenewalResult::and)
                    // A part that failed says nothing about the others, unless there is no other.
                    .flatMap(known ->
                            !says(known) && failure.get() != null ? Mono.error(failure.get()) : Mono.just(known));
        });
    }

    static RenewalResult refused(List<Claim> part, Throwable error) {
        Map<String, Throwable> refused = new HashMap<>();
        part.forEach(claim -> refused.put(claim.id(), error));
        return new RenewalResult(Set.of(), Map.of(), refused);
    }

    private static boolean says(RenewalResult answer) {
        return !answer.renewed().isEmpty() || !answer.lost().isEmpty();
    }

    private List<List<Claim>> batches(List<Claim> held) {
        Map<Integer, List<Claim>> bySlot = new HashMap<>();
        for (Claim claim : held) {
            bySlot.computeIfAbsent(connection.slot(names.owner(claim.key())), slot -> new ArrayList<>())
                    .add(claim);
        }
        List<List<Claim>> batches = new ArrayList<>();
        for (List<Claim> claims : bySlot.values()) {
            for (int from = 0; from < claims.size(); from += AT_ONCE) {
                batches.add(claims.subList(from, Math.min(claims.size(), from + AT_ONCE)));
            }
        }
        return batches;
    }

    private static Duration patience(List<Claim> held) {
        Duration part = Collections.min(held, Comparator.comparing(Claim::lease))
                .lease()
                .dividedBy(6);
        return part.compareTo(LONGEST) < 0 ? part : LONGEST;
    }
}
