package io.github.reactivelock.examples.jobs;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.examples.ChildProcess;
import io.github.reactivelock.examples.Launcher;
import io.github.reactivelock.examples.Sql;
import io.github.reactivelock.lettuce.LettuceLockBackend;
import io.github.reactivelock.r2dbc.Once;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A process that starts the job at every instant, by a clock that is not quite right. */
final class Instance {

    static final String READY = "ready";
    static final String RAN = "ran";
    static final String DONE = "done";
    static final String LATE = "late";
    static final int INSTANTS = 6;
    static final Duration PERIOD = Duration.ofSeconds(4);

    private static final Duration LEASE = Duration.ofSeconds(2);
    private static final Duration JOB = Duration.ofMillis(20);
    /** A job that begins later than this is left out: the minimum of a process that was on time may be over. */
    private static final Duration LATEST = Duration.ofSeconds(2);

    private final LockClient lock;
    private final Once once;
    private final Duration ahead;

    private Instance(LockClient lock, Once once, Duration ahead) {
        this.lock = lock;
        this.once = once;
        this.ahead = ahead;
    }

    /** Arguments: the process's name, Redis, the database, by how many milliseconds its clock is ahead. */
    public static void main(String[] args) throws Exception {
        LockClient lock = LockClient.builder(LettuceLockBackend.connect(args[1]))
                .name(args[0])
                .options(LockOptions.defaults().withLease(LEASE))
                .build();
        Once once = Once.using(new Sql(args[2]).pool());
        Instance instance = new Instance(lock, once, Duration.ofMillis(Long.parseLong(args[3])));
        try {
            // So that first-time work is not slow when it counts.
            Flux.fromArray(Way.values())
                    .concatMap(way -> way.run(lock, once, "warm-up of " + args[0], 0, Mono.empty()))
                    .blockLast();
            ChildProcess.reply(READY);
            BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            long first = Long.parseLong(orders.readLine());
            instance.start(first).takeUntilOther(ChildProcess.parentExit()).blockLast();
        } catch (RuntimeException e) {
            System.err.println(args[0] + ": " + Launcher.explain(e));
        }
        System.exit(0);
    }

    private Flux<Void> start(long first) {
        return Flux.range(1, INSTANTS).flatMap(instant -> {
            long due = first + (instant - 1) * PERIOD.toMillis();
            return Mono.delay(Duration.ofMillis(Math.max(0, due - clock())))
                    .thenMany(Flux.fromArray(Way.values()).flatMap(way -> started(way, instant, due)));
        });
    }

    /** What this process takes for the time of day. */
    private long clock() {
        return System.currentTimeMillis() + ahead.toMillis();
    }

    private Mono<Void> started(Way way, int instant, long due) {
        String what = way.name() + " " + instant;
        if (clock() - due > LATEST.toMillis()) {
            return Mono.fromRunnable(() -> ChildProcess.reply(LATE + " " + what));
        }
        Mono<Void> job = Mono.<Void>fromRunnable(() -> ChildProcess.reply(RAN + " " + what))
                .then(Mono.delay(JOB))
                .then();
        return way.run(lock, once, "job", instant, job)
                .then(Mono.fromRunnable(() -> ChildProcess.reply(DONE + " " + what)));
    }
}
