package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.DriverThreads;
import io.r2dbc.spi.ConnectionFactory;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Work that runs at most once for each key, over all processes: like a lock that is never released before its time is
 * over. The number of an order as the key keeps the order from being charged twice.
 *
 * <pre>{@code
 * once.run("charge:" + order, Duration.ofDays(7), charge(order));            // the second caller gets nothing
 * once.recorded("charge:" + order, Duration.ofDays(7), charge(order));       // the second caller gets the receipt
 * }</pre>
 *
 * <p>A key is taken when its work begins. Work that fails or is cancelled frees it. A process that dies in the middle
 * leaves the key taken until its time is over, because nobody knows what the work had done. Keys are those of this class
 * alone. Needs no closing. Safe for use from any thread.
 */
public final class Once {

    private static final int CLEANED_EVERY = 256;

    private record Found(String runId, @Nullable String outcome) {}

    private final Database database;
    private final String process;
    private final AtomicLong runs = new AtomicLong();

    private Once(Database database) {
        byte[] random = new byte[16];
        new SecureRandom().nextBytes(random);
        this.process = Base64.getUrlEncoder().withoutPadding().encodeToString(random) + ".";
        this.database = database;
    }

    /**
     * Keeps keys in the tables of this library.
     *
     * @param pool a pool of the application, which is never closed here
     * @return work once
     */
    public static Once using(ConnectionFactory pool) {
        return using(pool, R2dbcLockOptions.defaults());
    }

    /**
     * Keeps keys in the tables of this library.
     *
     * @param pool a pool of the application, which is never closed here
     * @param options which tables
     * @return work once
     */
    public static Once using(ConnectionFactory pool, R2dbcLockOptions options) {
        return new Once(new Database(pool, false, options));
    }

    /**
     * Runs work unless it was begun before. Cold; of all subscriptions with a key one runs its work.
     *
     * @param key what must happen once
     * @param ttl how long the key stays taken, and the longest that the work may take
     * @param work cancelled if it takes longer than {@code ttl}
     * @param <T> the value's type
     * @return the work's outcome; empty for everybody else, also while the work still runs
     */
    public <T> Mono<T> run(String key, Duration ttl, Mono<T> work) {
        return begun(key, ttl, work, found -> Mono.empty(), value -> Mono.empty());
    }

    /**
     * Runs work unless it was begun before, and keeps its value for those who come later. Cold.
     *
     * @param key what must happen once
     * @param ttl how long the key stays taken and its value is kept, and the longest that the work may take
     * @param work cancelled if it takes longer than {@code ttl}; its value is text
     * @return the value, from the work or from the record; empty while the work still runs elsewhere
     */
    public Mono<String> recorded(String key, Duration ttl, Mono<String> work) {
        return begun(key, ttl, work, found -> Mono.justOrEmpty(found.outcome()), value -> Mono.just(value));
    }

    private interface Choice<A, B> {
        Mono<B> of(A from);
    }

    private <T> Mono<T> begun(
            String key, Duration ttl, Mono<T> work, Choice<Found, T> otherwise, Choice<T, String> outcome) {
        byte[] name = Keys.bytes(key);
        if (key.isBlank() || name.length > 512) {
            throw new IllegalArgumentException("key must be 1 to 512 bytes of UTF-8 but is '" + key + "'");
        }
        if (ttl.isNegative() || ttl.isZero()) {
            throw new IllegalArgumentException("ttl of '" + key + "' must be positive but is " + ttl);
        }
        return Mono.defer(() -> {
            String id = process + runs.getAndIncrement();
            return taken(name, id, ttl)
                    .flatMap(found -> found.runId().equals(id)
                            ? ran(name, id, work.timeout(ttl, DriverThreads.timer()), outcome)
                            : otherwise.of(found));
        });
    }

    private Mono<Found> taken(byte[] name, String id, Duration ttl) {
        if (ThreadLocalRandom.current().nextInt(CLEANED_EVERY) == 0) {
            var unused = Detached.run("cleaning", change("once_clean"));
        }
        return database.run(session -> session.alone(session.change("once_begin", name, id, Keys.micros(ttl)))
                        .then(session.alone(session.one(
                                "once_look",
                                row -> new Found(LockRow.text(row, "run_id"), row.get("outcome", String.class)),
                                (Object) name))))
                .doOnError(error -> undo(name, id))
                .doOnCancel(() -> undo(name, id));
    }

    private <T> Mono<T> ran(byte[] name, String id, Mono<T> work, Choice<T, String> outcome) {
        return Mono.usingWhen(
                Mono.just(id),
                run -> work.flatMap(value -> outcome.of(value)
                        .flatMap(text -> change("once_outcome", text, name, run))
                        .thenReturn(value)),
                run -> Mono.empty(),
                (run, error) -> change("once_undo", name, run).onErrorComplete(),
                run -> change("once_undo", name, run).onErrorComplete());
    }

    private void undo(byte[] name, String id) {
        var unused = Detached.run("freeing a key", change("once_undo", name, id));
    }

    private Mono<Long> change(String statement, Object... parameters) {
        return database.run(session -> session.alone(session.change(statement, parameters)));
    }
}
