package io.github.reactivelock.examples.stalewriter;

import io.github.reactivelock.examples.ChildProcess;
import io.github.reactivelock.examples.Launcher;
import io.github.reactivelock.examples.Print;
import io.github.reactivelock.examples.Store;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The command: stops a holder past its lease, and checks which write is there in the end. */
@Command(
        name = "examples/run stale-writer",
        description = "The holder of a lock is stopped past its lease (SIGSTOP), another process takes over and writes;"
                + " the first wakes and writes as well. Without and with the guard, in Redis, PostgreSQL and MariaDB.",
        usageHelpAutoWidth = true)
public final class StaleWriter implements Callable<Integer> {

    private static final long OLD = 111;
    private static final long NEW = 222;
    private static final List<Store> STORES = List.of(Store.REDIS, Store.POSTGRESQL, Store.MARIADB);

    @Option(names = "--demo", description = "no effect: this example always ends by itself")
    private boolean unused;

    private StaleWriter() {}

    /**
     * Runs the example and ends the JVM: 0 if the guard refused the stale write in every store and without it the write
     * went through, 1 if not or if a server did not start, 2 if the arguments are wrong.
     *
     * @param args the options
     */
    public static void main(String[] args) {
        Launcher.run(new StaleWriter(), args);
    }

    @Override
    public Integer call() {
        // Only the main thread ever waits.
        boolean asPromised = Flux.fromIterable(STORES)
                .concatMap(store -> store.use(address -> Flux.just(false, true)
                        .concatMap(guarded -> scene(store, address, guarded))
                        .all(expected -> expected)))
                .all(expected -> expected)
                .blockOptional()
                .orElseThrow();
        return asPromised ? 0 : 1;
    }

    private static Mono<Boolean> scene(Store store, String address, boolean guarded) {
        Print.line("%n%s, %s the guard", store, guarded ? "with" : "without");
        return Mono.defer(() -> {
                    Resource resource = Resource.of(store, address);
                    return resource.reset()
                            .then(Mono.usingWhen(
                                    writer("first", store, address, guarded, OLD),
                                    first -> Mono.usingWhen(
                                            writer("second", store, address, guarded, NEW),
                                            second -> play(first, second),
                                            StaleWriter::ended),
                                    StaleWriter::ended))
                            .zipWhen(answer -> resource.read())
                            .map(outcome -> judge(store, guarded, outcome.getT1(), outcome.getT2()));
                })
                .subscribeOn(Schedulers.boundedElastic());
    }

    private static Mono<ChildProcess> writer(String name, Store store, String address, boolean guarded, long value) {
        return Mono.fromCallable(() -> Writer.start(name, store, address, guarded, value))
                .subscribeOn(Schedulers.boundedElastic());
    }

    /** The answer to the first writer's late write. */
    private static Mono<String> play(ChildProcess first, ChildProcess second) {
        return asked(first, Writer.TAKE)
                .doOnNext(token -> Print.line("  first holds the lock, token %s; kill -STOP first", token))
                .then(first.pause())
                .then(asked(second, Writer.TAKE))
                .doOnNext(token -> Print.line("  its lease has ended: second holds the lock, token %s", token))
                .then(asked(second, "write"))
                .doOnNext(answer -> Print.line("  second writes %d: %s; kill -CONT first", NEW, answer))
                // The order is there when it wakes, so it writes first of all.
                .then(first.tell("write"))
                .then(first.resume())
                .then(first.answer())
                .doOnNext(answer -> Print.line("  first wakes and writes %d: %s", OLD, answer));
    }

    private static Mono<String> asked(ChildProcess writer, String order) {
        return writer.tell(order).then(writer.answer());
    }

    private static Mono<Void> ended(ChildProcess writer) {
        return writer.end(Mono.fromRunnable(writer::kill));
    }

    private static boolean judge(Store store, boolean guarded, String answer, long value) {
        Print.line("store=%s guard=%s stale-write=%s value=%d", store, guarded, answer, value);
        return guarded ? answer.equals(Writer.REFUSED) && value == NEW : answer.equals(Writer.WRITTEN) && value == OLD;
    }
}
