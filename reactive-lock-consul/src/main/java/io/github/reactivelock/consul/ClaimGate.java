package io.github.reactivelock.consul;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * What the making of each claim's key passes: it names the index of the last write to one key of the client, or says
 * that there was none in this session. An agent may carry out a question long after it was given up, when it was
 * stopped for example. Another write to that key shuts out all questions from before, so that what they made is there
 * by then, or never will be. Safe for use from any thread.
 */
final class ClaimGate {

    /** How often a question is put again that others shut out. */
    private static final int TRIES = 8;

    /** From one write to the gate's key to the next. */
    private record Passage(String session, Mono<Operation> check) {}

    private final ClaimKeys keys;
    private final Supplier<String> name;
    private final AtomicReference<@Nullable Passage> present = new AtomicReference<>();
    /** What is written never twice, because the same text would be no new write. */
    private final AtomicLong writes = new AtomicLong();

    ClaimGate(ClaimKeys keys, Supplier<String> name) {
        this.keys = keys;
        this.name = name;
    }

    /** A question that names the gate's key as it is, put again if the gate was shut before it came. */
    <T> Mono<T> through(String session, Function<Operation, Mono<T>> question) {
        return Mono.defer(() -> {
                    Passage passage = passage(session);
                    return passage.check
                            .doOnError(error -> replace(passage))
                            .flatMap(check -> question.apply(check)
                                    .doOnError(
                                            error -> ConsulFailure.is(error, ConsulFailure.Kind.SHUT_OUT),
                                            error -> replace(passage)));
                })
                .retryWhen(Retry.max(TRIES)
                        .filter(error -> ConsulFailure.is(error, ConsulFailure.Kind.SHUT_OUT))
                        .onRetryExhaustedThrow((spec, last) -> last.failure()));
    }

    /** Shuts out all questions that have passed until now. */
    Mono<Void> shut() {
        return Mono.defer(() -> {
            Passage last = present.get();
            if (last == null) {
                return Mono.empty();
            }
            Passage next = another(last.session);
            if (!present.compareAndSet(last, next)) {
                return shut();
            }
            return next.check
                    .doOnError(error -> replace(next))
                    .then()
                    // No question of a session that has ended makes a key.
                    .onErrorResume(
                            error -> ConsulFailure.is(error, ConsulFailure.Kind.SESSION_ENDED), error -> Mono.empty());
        });
    }

    private Passage passage(String session) {
        Passage known = present.get();
        if (known != null && known.session.equals(session)) {
            return known;
        }
        Passage first = new Passage(session, Mono.fromSupplier(() -> Operation.checkAbsent(name.get())));
        return present.compareAndSet(known, first) ? first : passage(session);
    }

    /** Begins with a write, which is made when the passage is first used. */
    private Passage another(String session) {
        return new Passage(
                session,
                Mono.defer(() -> keys.own(name.get(), session, Long.toString(writes.incrementAndGet())))
                        .map(written -> Operation.checkIndex(written.key(), written.modified()))
                        .cache());
    }

    private void replace(Passage passage) {
        present.compareAndSet(passage, another(passage.session));
    }
}
