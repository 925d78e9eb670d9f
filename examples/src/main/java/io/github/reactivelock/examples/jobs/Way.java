package io.github.reactivelock.examples.jobs;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.r2dbc.Once;
import java.time.Duration;
import java.util.Locale;
import reactor.core.publisher.Mono;

/** How a job that every process starts is kept from running more than once an instant. */
enum Way {
    /** The lock is free again when the job is done: who comes a moment later runs it again. */
    LOCK_ALONE,
    /** The lock stays taken for longer than the clocks differ. */
    MINIMUM,
    /** The instant is a key in the database, so it does not matter whose clock is early or late. */
    ONCE;

    /** More than the clocks differ and a process may be late, and less than is between two instants. */
    private static final Duration LEAST = Duration.ofSeconds(3);

    private static final Duration KNOWN = Duration.ofHours(1);

    Mono<Void> run(LockClient lock, Once once, String name, int instant, Mono<Void> job) {
        return switch (this) {
            case LOCK_ALONE -> lock.tryWithLock(name + ":alone", job, Mono.empty());
            case MINIMUM ->
                lock.with(lock.options().withMinHold(LEAST)).tryWithLock(name + ":minimum", job, Mono.empty());
            case ONCE -> once.run(name + ":" + instant, KNOWN, job);
        };
    }

    /** In words. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
