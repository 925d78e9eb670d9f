package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.support.SilenceClock;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ValidationDepth;
import io.r2dbc.spi.Wrapped;
import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import reactor.core.publisher.Mono;

/**
 * Which connections may have died without a word, as when a NAT or a balancer forgets them: TCP would show it after a
 * quarter of an hour. A connection proves itself before it is used if it has not answered for a while, or not since
 * another one did not answer. One that does not answer that condemns all that have not answered since it was asked:
 * they are closed, and new ones take their place. Safe for use from any thread.
 */
final class Answers {

    private static final long FRESH = Duration.ofSeconds(10).toNanos();
    private static final Duration LONGEST_PROOF = Duration.ofMillis(500);
    private static final long NEVER = Long.MIN_VALUE;

    private final Duration proof;
    /** When a connection answered last. The driver's, because a pool makes a new wrapper each time. */
    private final Map<Connection, Long> answered = Collections.synchronizedMap(new WeakHashMap<>());

    private volatile long doubtfulBefore = NEVER;
    private volatile long deadBefore = NEVER;

    Answers(Duration commandTimeout) {
        Duration part = commandTimeout.dividedBy(4);
        this.proof = part.compareTo(LONGEST_PROOF) < 0 ? part : LONGEST_PROOF;
    }

    static Connection real(Connection connection) {
        Connection real = connection;
        while (real instanceof Wrapped<?> wrapped && wrapped.unwrap() instanceof Connection inner && inner != real) {
            real = inner;
        }
        return real;
    }

    /** It answered a command. */
    void note(Connection connection) {
        answered.put(real(connection), System.nanoTime());
    }

    /** A command that it was given did not end in its time: it may be the command, or the connection. */
    void silent(long askedAt) {
        doubtfulBefore = askedAt;
    }

    /** Completes if it may be used; else an error says that it is broken. */
    Mono<Void> proved(Connection connection) {
        long now = System.nanoTime();
        Long last = answered.get(real(connection));
        if (last == null ? doubtfulBefore == NEVER : isOf(last, now)) {
            return Mono.empty();
        }
        if (last != null && isBefore(last, deadBefore)) {
            return Mono.error(R2dbcFailure.stale());
        }
        return SilenceClock.ofThisProcess()
                .timeout(
                        Mono.from(connection.validate(ValidationDepth.REMOTE)).onErrorReturn(false),
                        proof,
                        Mono.fromSupplier(() -> {
                            deadBefore = now;
                            return false;
                        }))
                .filter(isAlive -> isAlive)
                .switchIfEmpty(Mono.error(R2dbcFailure::stale))
                .doOnNext(isAlive -> note(connection))
                .then();
    }

    private boolean isOf(long last, long now) {
        return now - last < FRESH && !isBefore(last, doubtfulBefore) && !isBefore(last, deadBefore);
    }

    private static boolean isBefore(long time, long limit) {
        return limit != NEVER && time - limit < 0;
    }
}
