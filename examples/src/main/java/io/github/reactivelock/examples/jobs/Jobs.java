package io.github.reactivelock.examples.jobs;

import io.github.reactivelock.examples.ChildProcess;
import io.github.reactivelock.examples.Launcher;
import io.github.reactivelock.examples.Print;
import io.github.reactivelock.examples.RedisOption;
import io.github.reactivelock.examples.Store;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The command: three processes start a job at the same instants by their own clocks; one is killed right after a run.
 */
@Command(
        name = "examples/run jobs",
        description =
                "Three processes whose clocks differ start a job at the same instants: with a lock alone, with a minimum"
                        + " hold, and with Once. One process is killed right after it has run.",
        usageHelpAutoWidth = true)
public final class Jobs implements Callable<Integer> {

    private record Reply(String process, String what, Way way, int instant) {
        static Reply of(ChildProcess from, String line) {
            String[] words = line.split(" ", 3);
            return new Reply(from.name(), words[0], Way.valueOf(words[1]), Integer.parseInt(words[2]));
        }

        boolean is(String asked, Way by, int at) {
            return what.equals(asked) && way == by && instant == at;
        }
    }

    private static final List<Duration> AHEAD = List.of(Duration.ofMillis(500), Duration.ofMillis(200), Duration.ZERO);

    /** From when all are ready, by a clock that is right. */
    private static final Duration START = Duration.ofMillis(1_500);

    private static final int KILLED_AT = 3;

    @Option(names = "--demo", description = "no effect: this example always ends by itself")
    private boolean unused;

    @Mixin
    private final RedisOption redis = new RedisOption();

    private Jobs() {}

    /**
     * Runs the example and ends the JVM: 0 if the job ran once an instant where it should have, 1 if not, 2 if the
     * arguments are wrong.
     *
     * @param args the options
     */
    public static void main(String[] args) {
        Launcher.run(new Jobs(), args);
    }

    @Override
    public Integer call() {
        // Only the main thread ever waits.
        return redis.use(locks -> Store.H2.use(database -> timeline(locks, database)))
                .blockOptional()
                .orElseThrow();
    }

    private static Mono<Integer> timeline(String locks, String database) {
        Print.line(
                "%d processes, clocks that differ by up to %d ms, an instant every %d s",
                AHEAD.size(), AHEAD.get(0).toMillis(), Instance.PERIOD.toSeconds());
        return Mono.usingWhen(
                start(locks, database),
                instances -> ready(instances)
                        .thenMany(
                                Flux.merge(instances.stream().map(Jobs::replies).toList()))
                        .collectList()
                        .map(Jobs::judge),
                instances -> Flux.fromIterable(instances)
                        .filter(ChildProcess::isAlive)
                        .flatMap(instance -> instance.end(Mono.fromRunnable(instance::terminate)))
                        .then());
    }

    private static Mono<List<ChildProcess>> start(String locks, String database) {
        return Flux.range(0, AHEAD.size())
                .concatMap(number -> Mono.fromCallable(() -> ChildProcess.start(
                                "process-" + (number + 1),
                                Redirect.PIPE,
                                Instance.class,
                                "process-" + (number + 1),
                                locks,
                                database,
                                Long.toString(AHEAD.get(number).toMillis())))
                        .subscribeOn(Schedulers.boundedElastic()))
                .collectList();
    }

    /** All begin at one moment, which is far enough away. */
    private static Mono<Void> ready(List<ChildProcess> instances) {
        return Flux.fromIterable(instances)
                .flatMap(ChildProcess::answer)
                .filter(Instance.READY::equals)
                .count()
                .flatMapMany(all -> {
                    long first = System.currentTimeMillis() + START.toMillis();
                    return Flux.fromIterable(instances).flatMap(instance -> instance.tell(Long.toString(first)));
                })
                .then();
    }

    /**
     * Until the process ends. Who has run the job at one of the instants, and is through with it in every way, is
     * killed; the lock stays taken.
     */
    private static Flux<Reply> replies(ChildProcess instance) {
        AtomicBoolean hasRun = new AtomicBoolean();
        AtomicInteger through = new AtomicInteger();
        return instance.answer()
                .repeat()
                .onErrorComplete(end -> end instanceof IOException || end instanceof IllegalStateException)
                .map(line -> Reply.of(instance, line))
                .doOnNext(reply -> {
                    if (reply.is(Instance.RAN, Way.MINIMUM, KILLED_AT)) {
                        hasRun.set(true);
                    } else if (reply.what.equals(Instance.DONE)
                            && reply.instant == KILLED_AT
                            && through.incrementAndGet() == Way.values().length
                            && hasRun.get()) {
                        Print.line("  kill -9 %s, which has just run the job of instant %d", reply.process, KILLED_AT);
                        instance.kill();
                    }
                });
    }

    private static int judge(List<Reply> replies) {
        replies.stream()
                .filter(reply -> reply.what.equals(Instance.LATE))
                .forEach(late -> Print.line("  %s left instant %d out: it was too late", late.process, late.instant));
        boolean asPromised = true;
        for (Way way : Way.values()) {
            List<List<String>> runs = IntStream.rangeClosed(1, Instance.INSTANTS)
                    .mapToObj(instant -> replies.stream()
                            .filter(reply -> reply.is(Instance.RAN, way, instant))
                            .map(Reply::process)
                            .toList())
                    .toList();
            Print.line("%s: %s", way, runs);
            Print.line(
                    "way=%s instants=%d runs=%d",
                    way, runs.size(), runs.stream().mapToInt(List::size).sum());
            asPromised &= way == Way.LOCK_ALONE || runs.stream().allMatch(of -> of.size() == 1);
        }
        return asPromised ? 0 : 1;
    }
}
