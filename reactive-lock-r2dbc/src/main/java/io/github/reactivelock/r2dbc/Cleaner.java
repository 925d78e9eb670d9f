package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.FireAndForget;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Removes, every few minutes from the first use on, what is needed no more: rows of locks that have been free or
 * expired for an hour, waiting claims and shares that died, events that all have read. Keeping the row for a while
 * keeps a lock in steady use from being written twice.
 */
final class Cleaner {

    private static final Duration INTERVAL = Duration.ofMinutes(5);
    private static final Duration KEPT = Duration.ofHours(1);
    private static final Duration EVENTS_KEPT = Duration.ofMinutes(2);

    private static final int PAGE = 1_000;
    private static final Logger log = LoggerFactory.getLogger(Cleaner.class);

    private final Database database;
    private final AtomicBoolean begun = new AtomicBoolean();
    private final Disposable.Swap running = Disposables.swap();

    Cleaner(Database database) {
        this.database = database;
    }

    void begin() {
        if (begun.compareAndSet(false, true)) {
            running.update(FireAndForget.cancellable(
                    "cleaning",
                    Mono.defer(() -> Mono.delay(jittered(), DriverThreads.timer()))
                            .then(turn(KEPT))
                            .repeat(() -> !database.isClosed())
                            .then()));
        }
    }

    /** One of the turns that follow each other; a failure is logged, and the next one tries again. */
    Mono<Void> turn(Duration kept) {
        return Mono.defer(() -> clean(kept)).onErrorResume(this::warned);
    }

    private static Duration jittered() {
        long half = INTERVAL.toMillis() / 2;
        return Duration.ofMillis(half + ThreadLocalRandom.current().nextLong(half + 1));
    }

    /**
     * Each table by itself and page by page: one that cannot be cleaned, or has a million rows too many, keeps none of
     * the others.
     */
    Mono<Void> clean(Duration kept) {
        long age = Micros.of(kept);
        return Flux.concatDelayError(
                        pages("clean_waiters", age),
                        pages("clean_shares", age),
                        pages("clean_events", Micros.of(EVENTS_KEPT)),
                        cleanLocks(age),
                        Sweep.ofOnce(database).swept(),
                        Sweep.ofRows(database).swept())
                .then();
    }

    private Mono<Void> warned(Throwable error) {
        if (!database.isClosed()) {
            log.warn(
                    "rows of locks that are not needed any more could not be removed, so the tables {}… grow",
                    database.sql.prefix,
                    error);
        }
        return Mono.empty();
    }

    private Mono<Void> pages(String statement, long age) {
        Object[] parameters = database.sql.dialect == Dialect.POSTGRESQL ? new Object[] {age, age} : new Object[] {age};
        return Mono.defer(() -> database.run(session -> session.limited(session.change(statement, parameters))))
                .repeat()
                .takeUntil(removed -> removed < PAGE)
                .then();
    }

    /** Page by page along the key, until the end of the table: it may have grown by any number of one-time keys. */
    private Mono<Void> cleanLocks(long age) {
        return page(KeyLayout.FIRST, age)
                .expand(keys -> keys.size() < PAGE ? Mono.empty() : page(keys.get(keys.size() - 1), age))
                .concatMap(keys -> removed(keys, age))
                .then();
    }

    private Mono<List<byte[]>> page(byte[] after, long age) {
        return database.run(session -> session.alone(session.all("outdated", KeyLayout::read, after, age, PAGE)));
    }

    private Mono<Long> removed(List<byte[]> keys, long age) {
        if (keys.isEmpty()) {
            return Mono.empty();
        }
        return database.run(session -> session.limited(session.change("clean", keys, age)));
    }

    void stop() {
        running.dispose();
    }
}
