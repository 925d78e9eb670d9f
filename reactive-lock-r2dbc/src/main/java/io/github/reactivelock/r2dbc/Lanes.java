package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.Claim;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * Lets one command at a time go to the database for each key, in the order in which they are subscribed: a release never
 * overtakes its claim on another connection, and one busy key takes one connection. A command that has begun goes on
 * when its subscriber leaves; a claim that has not begun when it is released never begins. Safe for use from any thread;
 * {@code synchronized} guards a map and nothing slower.
 */
final class Lanes {

    /** A command that waits for its turn; {@code claimId} is empty unless it is a claim. */
    private record Turn(String claimId, Mono<Void> command, Sinks.One<?> answer) {}

    private final Map<String, Queue<Turn>> waiting = new HashMap<>();

    <T> Mono<T> inTurn(String key, Mono<T> command) {
        return Mono.defer(() -> enqueue(key, "", command));
    }

    <T> Mono<T> claim(Claim claim, Mono<T> command) {
        return Mono.defer(() -> enqueue(claim.key(), claim.id(), command));
    }

    /** Drops what this claim still waits to ask; says whether there was something. */
    boolean drop(Claim claim) {
        Turn dropped = taken(claim);
        boolean any = dropped != null;
        while (dropped != null) {
            Sinks.EmitResult unused = dropped.answer()
                    .tryEmitError(new IllegalStateException("the claim was withdrawn before it was made"));
            dropped = taken(claim);
        }
        return any;
    }

    private <T> Mono<T> enqueue(String key, String claimId, Mono<T> command) {
        Sinks.One<T> answer = Sinks.one();
        Mono<Void> told = command.doOnSuccess(value -> {
                    Sinks.EmitResult unused = value == null ? answer.tryEmitEmpty() : answer.tryEmitValue(value);
                })
                .doOnError(error -> {
                    Sinks.EmitResult unused = answer.tryEmitError(error);
                })
                .onErrorComplete()
                .then();
        Turn turn = new Turn(claimId, told, answer);
        if (isFirst(key, turn)) {
            begin(key, turn);
        }
        return answer.asMono();
    }

    private synchronized boolean isFirst(String key, Turn turn) {
        Queue<Turn> behind = waiting.get(key);
        if (behind == null) {
            waiting.put(key, new ArrayDeque<>(2));
            return true;
        }
        behind.add(turn);
        return false;
    }

    private synchronized @Nullable Turn next(String key) {
        Queue<Turn> behind = waiting.get(key);
        Turn next = behind == null ? null : behind.poll();
        if (next == null) {
            waiting.remove(key);
        }
        return next;
    }

    private synchronized @Nullable Turn taken(Claim claim) {
        Queue<Turn> behind = waiting.get(claim.key());
        Iterator<Turn> turns = behind == null ? null : behind.iterator();
        while (turns != null && turns.hasNext()) {
            Turn turn = turns.next();
            if (turn.claimId().equals(claim.id())) {
                turns.remove();
                return turn;
            }
        }
        return null;
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
            var unused = Detached.run("a command", turn.command().doFinally(signal -> end.run()));
        } catch (Throwable e) { // a fatal one, which is not signalled: the lane would stand still for ever
            Sinks.EmitResult unused = turn.answer().tryEmitError(e);
            end.run();
        }
    }
}
