package io.github.reactivelock.examples.partitions;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockListener;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.examples.Launcher;
import io.github.reactivelock.examples.Print;
import io.github.reactivelock.examples.RedisOption;
import io.github.reactivelock.examples.partitions.Counter.Count;
import io.github.reactivelock.lettuce.LettuceLockBackend;
import io.github.reactivelock.state.LockInfo;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.function.Function;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The command: a consumer takes the locks of its partitions, without and with retention, and another one calls one of
 * them back.
 */
@Command(
        name = "examples/run partitions",
        description =
                "A consumer takes the locks of its eight partitions again and again, first without and then with the"
                        + " lock that stays, and Redis says what it ran. Then another client calls one of them back.",
        usageHelpAutoWidth = true)
public final class Partitions implements Callable<Integer> {

    private static final int PARTITIONS = 8;
    private static final int ROUNDS = 100;
    private static final int ACQUISITIONS = PARTITIONS * ROUNDS;
    private static final String WANTED = "partition:3";
    private static final LockOptions LEAVING = LockOptions.defaults();
    private static final LockOptions KEEPING = LEAVING.withRetention(Duration.ofSeconds(10));

    /** A kept lock goes back when its time is over, so a busy machine counts a few more than one of each partition. */
    private static final int MOST_WHEN_KEPT = ACQUISITIONS / 10;

    @Option(names = "--demo", description = "no effect: this example always ends by itself")
    private boolean unused;

    @Mixin
    private final RedisOption redis = new RedisOption();

    private Partitions() {}

    /**
     * Runs the example and ends the JVM: 0 if the lock that stays saved what it should and went to the other client, 1
     * if not, 2 if the arguments are wrong.
     *
     * @param args the options
     */
    public static void main(String[] args) {
        Launcher.run(new Partitions(), args);
    }

    @Override
    public Integer call() {
        // Only the main thread ever waits.
        return redis.use(uri -> Mono.usingWhen(Counter.connect(uri), counter -> compare(uri, counter), Counter::close))
                .blockOptional()
                .orElseThrow();
    }

    private static Mono<Integer> compare(String uri, Counter counter) {
        Print.line("a consumer takes each of %d partitions %d times", PARTITIONS, ROUNDS);
        Mono<Boolean> without = as(
                "consumer-1",
                uri,
                LEAVING,
                lock -> counter.during(consume(lock, ROUNDS))
                        .doOnNext(count -> tell("retention=none", ACQUISITIONS, count))
                        .map(count -> count.scripts() >= 2 * ACQUISITIONS));
        Mono<Boolean> with = as(
                "consumer-1",
                uri,
                KEEPING,
                lock -> counter.during(consume(lock, ROUNDS))
                        .doOnNext(count -> tell("retention=10s", ACQUISITIONS, count))
                        .filter(count -> count.scripts() <= MOST_WHEN_KEPT)
                        .flatMap(few -> as("consumer-2", uri, KEEPING, other -> callBack(counter, lock, other)))
                        .defaultIfEmpty(false));
        return Flux.concat(without, with).all(asPromised -> asPromised).map(all -> all ? 0 : 1);
    }

    /** The client of a process. Its first lock opens its connections, so that only locks are counted afterwards. */
    private static Mono<Boolean> as(
            String name, String uri, LockOptions options, Function<LockClient, Mono<Boolean>> program) {
        LockListener listener = new LockListener() {
            @Override
            public void recalled(String key) {
                Print.line("  %s is called back: %s", name, key);
            }
        };
        return Mono.usingWhen(
                Mono.fromSupplier(() -> LockClient.builder(LettuceLockBackend.connect(uri))
                        .name(name)
                        .options(options)
                        .listener(listener)
                        .commandTimeout(Duration.ofSeconds(10))
                        .build()),
                lock -> lock.withLock("warm-up of " + name, Mono.empty()).then(program.apply(lock)),
                LockClient::close);
    }

    private static Mono<Void> consume(LockClient lock, int rounds) {
        // What is done with a partition has no part in what is counted.
        return Flux.range(0, rounds)
                .concatMap(round -> Flux.range(0, PARTITIONS))
                .concatMap(partition -> lock.withLock("partition:" + partition, Mono.empty()))
                .then();
    }

    private static Mono<Boolean> callBack(Counter counter, LockClient owner, LockClient other) {
        Mono<Void> taken = other.withLock(WANTED, held -> other.inspect(WANTED).doOnNext(Partitions::show))
                .then();
        return other.inspect(WANTED)
                .doOnNext(Partitions::show)
                .then(counter.during(taken))
                .doOnNext(count -> tell("consumer-2", 1, count))
                .then(counter.during(consume(owner, 1)))
                .doOnNext(count -> tell("consumer-1 goes on:", PARTITIONS, count))
                .map(count -> count.scripts() < 2 * PARTITIONS);
    }

    private static void show(LockInfo info) {
        info.held()
                .ifPresent(held -> Print.line(
                        "  %s is of %s, token %d, recallable=%s",
                        held.key(), held.owner(), held.fencingToken(), held.recallable()));
    }

    private static void tell(String what, int acquisitions, Count count) {
        Print.line("%s acquisitions=%d scripts=%d commands=%d", what, acquisitions, count.scripts(), count.commands());
    }
}
