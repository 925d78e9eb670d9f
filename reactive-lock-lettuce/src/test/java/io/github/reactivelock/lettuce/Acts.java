package io.github.reactivelock.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockHandle;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * What holders did and when. An act's time is taken before the hold is looked at, so that whoever is seen to hold did
 * hold at that time, however slow the machine is.
 */
final class Acts {

    private record Visit(String who, long token, long first, long last) {}

    private static final class Log {
        long first;
        long last;
        boolean any;

        void act(long now) {
            first = any ? first : now;
            last = now;
            any = true;
        }
    }

    private final ConcurrentLinkedQueue<Visit> visits = new ConcurrentLinkedQueue<>();
    private final Map<String, AtomicInteger> counts = new ConcurrentHashMap<>();

    /** Acts again and again while the hold is valid, at most so many times. */
    Mono<Void> visit(String who, LockHandle held, int times) {
        return Mono.defer(() -> {
            Log log = new Log();
            return Flux.interval(Duration.ZERO, Duration.ofMillis(2))
                    .onBackpressureDrop()
                    .takeWhile(tick -> {
                        long now = System.nanoTime();
                        boolean holds = held.isHeld();
                        if (holds) {
                            log.act(now);
                        }
                        return holds;
                    })
                    .take(times)
                    .doFinally(end -> {
                        if (log.any) {
                            visits.add(new Visit(who, held.fencingToken(), log.first, log.last));
                            counts.computeIfAbsent(who, any -> new AtomicInteger())
                                    .incrementAndGet();
                        }
                    })
                    .then();
        });
    }

    int count(String who) {
        AtomicInteger count = counts.get(who);
        return count == null ? 0 : count.get();
    }

    /** No two visits overlap, and each has a higher token than the one before. */
    void verify() {
        List<Visit> ordered =
                visits.stream().sorted(Comparator.comparingLong(Visit::first)).toList();
        for (int i = 1; i < ordered.size(); i++) {
            Visit before = ordered.get(i - 1);
            Visit after = ordered.get(i);
            assertThat(after.first())
                    .as("%s under %s and %s under %s hold at once", before.who, before.token, after.who, after.token)
                    .isGreaterThan(before.last());
            assertThat(after.token())
                    .as("the token of %s after that of %s", after.who, before.who)
                    .isGreaterThan(before.token());
        }
    }
}
