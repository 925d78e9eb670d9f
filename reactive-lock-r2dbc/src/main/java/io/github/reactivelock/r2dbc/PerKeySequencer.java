package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.support.FireAndForget;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * Lets one command at a time go to the database for each key: a release never overtakes its claim on another connection,
 * and one busy key takes one connection. Releases go before claims, because claims may be many and wait for one of them;
 * each kind goes in the order in which it is subscribed. A command that has begun goes on when its subscriber leaves; a
 * claim that has not begun when it is released never begins. When a command fails, claims that have stood behind it for
 * a command's time fail with it. Safe for use from any thread; {@code synchronized} guards a map and nothing slower.
 */
final class PerKeySequencer {

    /** A command that waits for its turn; {@code claimId} is empty unless it is a claim. */
    private record Turn(String claimId, Mono<Void> command, Sinks.One<?> answer, long since) {}

    private static final class Lane {
        private final Queue<Turn> releases = new ArrayDeque<>(2);
        private final Queue<Turn> claims = new ArrayDeque<>(2);

        @Nullable
        Turn next() {
            Turn release = releases.poll();
            return release == null ? claims.poll() : release;
        }
    }

    private final Map<String, Lane> lanes = new HashMap<>();
    private final long bearable;

    PerKeySequencer(Duration commandTimeout) {
        this.bearable = commandTimeout.toNanos();
    }

    <T> Mono<T> inTurn(String key, Mono<T> command) {
        return Mono.deferContextual(context -> enqueue(key, "", command.contextWrite(context)));
    }

    <T> Mono<T> claim(Claim claim, Mono<T> command) {
        return Mono.deferContextual(context -> enqueue(claim.key(), claim.id(), command.contextWrite(context)));
    }

    /** Drops what this claim still waits to ask; says whether there was something. */
    boolean drop(Claim claim) {
        List<Turn> dropped = taken(claim.key(), turn -> turn.claimId().equals(claim.id()));
        fail(dropped, new IllegalStateException("the claim was withdrawn before it was made"));
        return !dropped.isEmpty();
    }

    private static void fail(List<Turn> turns, Throwable error) {
        turns.forEach(turn -> {
            Sinks.EmitResult unused = turn.answer().tryEmitError(error);
        });
    }

    private <T> Mono<T> enqueue(String key, String claimId, Mono<T> command) {
        Sinks.One<T> answer = Sinks.one();
        Mono<Void> told = command.doOnSuccess(value -> {
                    Sinks.EmitResult unused = value == null ? answer.tryEmitEmpty() : answer.tryEmitValue(value);
                })
                .doOnError(error -> {
                    Sinks.EmitResult unused = answer.tryEmitError(error);
                    long now = System.nanoTime();
                    fail(taken(key, turn -> !turn.claimId().isEmpty() && now - turn.since() >= bearable), error);
                })
                .onErrorComplete()
                .then();
        Turn turn = new Turn(claimId, told, answer, System.nanoTime());
        if (isFirst(key, turn)) {
            begin(key, turn);
        }
        return answer.asMono();
    }

    private synchronized boolean isFirst(String key, Turn turn) {
        Lane lane = lanes.get(key);
        if (lane == null) {
            lanes.put(key, new Lane());
            return true;
        }
        boolean unused = (turn.claimId().isEmpty() ? lane.releases : lane.claims).add(turn);
        return false;
    }

    private synchronized @Nullable Turn next(String key) {
        Lane lane = lanes.get(key);
        Turn next = lane == null ? null : lane.next();
        if (next == null) {
            lanes.remove(key);
        }
        return next;
    }

    private synchronized List<Turn> taken(String key, Predicate<Turn> which) {
        Lane lane = lanes.get(key);
        if (lane == null) {
            return List.of();
        }
        List<Turn> taken = lane.claims.stream().filter(which).toList();
        lane.claims.removeAll(taken);
        return taken;
    }

    private void begin(String key, Turn turn) {
        AtomicBoolean over = new AtomicBoolean();
        Runnable end = () -> {
            Turn next = over.compareAndSet(false, true) ? next(key) : null;
            if (next != null) {
                begin(key, next);
            }
        };
        try {
            var unused = FireAndForget.run("a command", turn.command().doFinally(signal -> end.run()));
        } catch (Throwable e) { // a fatal one, which is not signalled: the lane would stand still for ever
            Sinks.EmitResult unused = turn.answer().tryEmitError(e);
            end.run();
        }
    }
}
