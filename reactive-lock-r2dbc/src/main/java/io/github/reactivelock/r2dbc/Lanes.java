package io.github.reactivelock.r2dbc;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * Lets one command at a time go to the database for each key, in the order in which they are subscribed: a release never
 * overtakes its claim on another connection, and one busy key takes one connection. A command that has begun goes on
 * when its subscriber leaves. Safe for use from any thread; {@code synchronized} guards a map and nothing slower.
 */
final class Lanes {

    private final Map<String, Queue<Mono<Void>>> waiting = new HashMap<>();

    <T> Mono<T> inTurn(String key, Mono<T> command) {
        return Mono.defer(() -> {
            Sinks.One<T> answer = Sinks.one();
            Mono<Void> turn = command.doOnSuccess(value -> {
                        Sinks.EmitResult unused = value == null ? answer.tryEmitEmpty() : answer.tryEmitValue(value);
                    })
                    .doOnError(error -> {
                        Sinks.EmitResult unused = answer.tryEmitError(error);
                    })
                    .onErrorComplete()
                    .then();
            if (isFirst(key, turn)) {
                begin(key, turn);
            }
            return answer.asMono();
        });
    }

    private synchronized boolean isFirst(String key, Mono<Void> turn) {
        Queue<Mono<Void>> behind = waiting.get(key);
        if (behind == null) {
            waiting.put(key, new ArrayDeque<>(2));
            return true;
        }
        behind.add(turn);
        return false;
    }

    private synchronized @Nullable Mono<Void> next(String key) {
        Queue<Mono<Void>> behind = waiting.get(key);
        Mono<Void> next = behind == null ? null : behind.poll();
        if (next == null) {
            waiting.remove(key);
        }
        return next;
    }

    private void begin(String key, Mono<Void> first) {
        var unused = Detached.run("a command", first.doFinally(signal -> {
            Mono<Void> next = next(key);
            if (next != null) {
                begin(key, next);
            }
        }));
    }
}
