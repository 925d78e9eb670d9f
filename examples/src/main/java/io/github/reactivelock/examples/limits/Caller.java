package io.github.reactivelock.examples.limits;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.examples.ChildProcess;
import io.github.reactivelock.examples.Launcher;
import io.github.reactivelock.lettuce.LettuceLockBackend;
import java.time.Duration;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.http.client.HttpClient;

/** One process of the fleet. It has more calls to make than the partner takes. */
final class Caller {

    static final String KEY = "partner";
    static final int LIMIT = 20;

    /** Short, so that the permits of a process that was killed come back soon. */
    static final Duration LEASE = Duration.ofSeconds(5);

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private static final int FLOWS = 16;

    private Caller() {}

    /** Arguments: the process's name, the URI of Redis, that of the partner. */
    public static void main(String[] args) {
        HttpClient http = HttpClient.create();
        LockClient lock = lock(args[0], args[1]).permits(1, LIMIT);
        Mono<String> call =
                http.get().uri(args[2]).responseContent().aggregate().asString();
        try {
            Flux.range(0, FLOWS)
                    .flatMap(flow -> lock.withLock(KEY, call).repeat(), FLOWS)
                    .takeUntilOther(ChildProcess.parentExit())
                    .blockLast();
        } catch (RuntimeException e) {
            System.err.println(args[0] + ": " + Launcher.explain(e));
            System.exit(1);
        }
        System.exit(0);
    }

    static LockClient lock(String name, String redis) {
        return LockClient.builder(LettuceLockBackend.connect(redis))
                .name(name)
                .commandTimeout(PATIENCE)
                .options(LockOptions.defaults().withLease(LEASE))
                .build();
    }
}
