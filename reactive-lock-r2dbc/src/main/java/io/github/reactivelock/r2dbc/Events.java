package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.FencingTokens;
import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.EndlessRetry;
import io.github.reactivelock.state.LockEvent;
import io.r2dbc.spi.Row;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Events of a lock. Who watches leaves a mark on the lock's row; as long as it is fresh, every change of hands leaves a
 * record, numbered by the token of the lock, and this reads them. A watch that could not refresh its mark in time
 * begins anew.
 */
final class Events {

    private static final Duration MARK = Duration.ofSeconds(30);
    private static final Duration REFRESH = Duration.ofSeconds(10);
    private static final Duration TOO_LATE = Duration.ofSeconds(25);
    private static final long SHORTEST_PAUSE = 50;
    private static final long LONGEST_PAUSE = 1_000;
    private static final Duration FIRST_RETRY = Duration.ofMillis(50);

    private final Database database;
    private final SignalSink pushes;

    Events(Database database, SignalSink pushes) {
        this.database = database;
        this.pushes = pushes;
    }

    Flux<LockEvent> events(String key) {
        return Flux.defer(() -> new Reading(key).events())
                .retryWhen(
                        EndlessRetry.after(FIRST_RETRY, Duration.ofSeconds(1)).filter(error -> !database.isClosed()));
    }

    private record Event(long number, String owner, long storedToken, long storedUnits) {
        static Event read(Row row) {
            return new Event(
                    LockRow.number(row, "number"),
                    LockRow.text(row, "owner"),
                    LockRow.number(row, "token"),
                    LockRow.number(row, "units"));
        }

        LockEvent of(String key) {
            long token = FencingTokens.of(storedToken);
            int units = Math.toIntExact(storedUnits);
            return number % 2 == 0
                    ? new LockEvent.Acquired(key, owner, token, units)
                    : new LockEvent.Released(key, token, units);
        }
    }

    /** One uninterrupted watch; its steps follow one another. */
    private final class Reading {

        private final String key;
        private final byte[] name;
        private long last;
        private long markedAt;
        private long pause = SHORTEST_PAUSE;

        Reading(String key) {
            this.key = key;
            this.name = KeyLayout.bytes(key);
        }

        Flux<LockEvent> events() {
            return Flux.concat(
                    snapshot(),
                    Flux.defer(this::occasions)
                            .onBackpressureLatest()
                            .concatMap(occasion -> refreshed().thenMany(Flux.defer(this::unseen)), 1));
        }

        /** When it is worth looking; after each of the changes the time until the next look begins anew. */
        private Flux<?> occasions() {
            Flux<Long> times = Flux.defer(this::nextTime).repeat();
            return pushes.changes(key, last).switchMap(change -> times.startWith(0L));
        }

        private Mono<LockEvent> snapshot() {
            return Mono.defer(() -> {
                markedAt = System.nanoTime();
                return database.run(session -> HandOverTransaction.of(
                                session,
                                pushes,
                                key,
                                (transfer, row) -> session.change("watch", Micros.of(MARK), name)
                                        .then(pushes.watch(session, name, MARK))
                                        .then(Mono.defer(() -> snapshot(session, row)))))
                        .cast(LockEvent.class);
            });
        }

        /** Numbers of events are twice the lock's token, and one more for an end. */
        private Mono<LockEvent.Snapshot> snapshot(SqlSession session, LockRow row) {
            last = row.isHeld() && !row.isShared() ? 2 * row.token() : 2 * row.token() + 1;
            return Observer.look(session, key).map(LockEvent.Snapshot::new);
        }

        private Flux<LockEvent> unseen() {
            return database.run(session -> session.alone(session.all("events", Event::read, name, last)))
                    .flatMapIterable(this::noted)
                    .map(event -> event.of(key));
        }

        private List<Event> noted(List<Event> events) {
            if (!events.isEmpty()) {
                last = events.get(events.size() - 1).number();
                pause = SHORTEST_PAUSE;
            }
            return events;
        }

        private Mono<Long> nextTime() {
            boolean arrive = pushes.arrive();
            long now = arrive ? REFRESH.toMillis() : pause;
            pause = arrive ? SHORTEST_PAUSE : Math.min(2 * pause, LONGEST_PAUSE);
            return Mono.delay(
                    Duration.ofMillis(now / 2 + ThreadLocalRandom.current().nextLong(now / 2 + 1)),
                    DriverThreads.timer());
        }

        private Mono<Void> refreshed() {
            return Mono.defer(() -> {
                long now = System.nanoTime();
                long age = now - markedAt;
                if (age > TOO_LATE.toNanos()) {
                    return Mono.error(interrupted());
                }
                if (age < REFRESH.toNanos()) {
                    return Mono.empty();
                }
                return database.run(this::markedOn)
                        .filter(isUnbroken -> isUnbroken)
                        .switchIfEmpty(Mono.error(Reading::interrupted))
                        .doOnNext(done -> markedAt = now)
                        .then();
            });
        }

        /**
         * The mark ran out or the row was removed if there is none, or if another watcher's came after something had
         * happened.
         */
        private Mono<Boolean> markedOn(SqlSession session) {
            return session.alone(session.change("watch_on", Micros.of(MARK), name))
                    .filter(marked -> marked > 0)
                    .delayUntil(marked ->
                            session.alone(pushes.watch(session, name, MARK).thenReturn(marked)))
                    .flatMap(marked -> session.alone(session.one("watch_told", this::isTold, name)));
        }

        /** Whether the last change of hands is one that was seen or left a record. */
        private boolean isTold(Row row) {
            long newest = Math.max(last, LockRow.number(row, "newest"));
            boolean isFree = row.get("claim_id", String.class) == null;
            return LockRow.number(row, "token") == newest / 2 && (!isFree || newest % 2 == 1);
        }

        private static IllegalStateException interrupted() {
            return new IllegalStateException("the watch was interrupted");
        }
    }
}
