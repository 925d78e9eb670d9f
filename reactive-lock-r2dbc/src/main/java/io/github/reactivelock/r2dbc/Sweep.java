package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.support.FireAndForget;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

/**
 * Removes the rows of one table whose time is over, in the background of its use: every half minute at most, some
 * hundreds by each statement until there are no more, or a trigger or a policy keeps them. Rows that are locked are
 * left alone. Safe for use from any thread.
 */
final class Sweep {

    private static final long INTERVAL = Duration.ofSeconds(30).toNanos();
    private static final int BATCH = 500;
    private static final Duration ROWS_KEPT = Duration.ofHours(1);

    private final Database database;
    private final String table;
    private final long kept;
    final AtomicLong due =
            new AtomicLong(System.nanoTime() + ThreadLocalRandom.current().nextLong(INTERVAL));

    private Sweep(Database database, String table, Duration kept) {
        this.database = database;
        this.table = table;
        this.kept = Micros.of(kept);
    }

    static Sweep ofOnce(Database database) {
        return new Sweep(database, "once", Duration.ZERO);
    }

    static Sweep ofRows(Database database) {
        return new Sweep(database, "row", ROWS_KEPT);
    }

    /** To be called at each use, with the user's Context: a factory may choose the database by it. */
    void begin(ContextView context) {
        long now = System.nanoTime();
        long at = due.get();
        if (now - at >= 0 && due.compareAndSet(at, now + INTERVAL)) {
            FireAndForget.run("cleaning", swept().contextWrite(context));
        }
    }

    /** Everything that is over by now. */
    Mono<Void> swept() {
        return Mono.defer(() -> database.run(session -> session.limited(batch(session))))
                .repeat()
                .takeUntil(goesOn -> !goesOn)
                .then();
    }

    /** Whether there may be more that can be removed. */
    private Mono<Boolean> batch(SqlSession session) {
        return session.all(table + "_outdated", KeyLayout::read, kept)
                .flatMap(keys -> keys.isEmpty()
                        ? Mono.just(false)
                        : session.changeEach(table + "_remove", keys)
                                .map(removed -> removed != 0 && keys.size() == BATCH));
    }
}
