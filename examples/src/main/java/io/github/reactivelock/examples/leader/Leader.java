package io.github.reactivelock.examples.leader;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.examples.ChildProcess;
import io.github.reactivelock.examples.EtcdOption;
import io.github.reactivelock.examples.Launcher;
import io.github.reactivelock.examples.Print;
import io.github.reactivelock.state.LockInfo;
import java.lang.ProcessBuilder.Redirect;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The command: starts the candidates, kills the leader twice, and checks that the next one took over. */
@Command(
        name = "examples/run leader",
        description =
                "Three processes on etcd. One acts; it is killed, and the next one takes over with a higher token.",
        usageHelpAutoWidth = true)
public final class Leader implements Callable<Integer> {

    private static final int CANDIDATES = 3;
    private static final Duration LOOK = Duration.ofMillis(50);
    private static final Duration TERM = Duration.ofMillis(1_600);
    private static final long ASKED_AGAIN = 5;
    private static final Duration LIMIT = Duration.ofSeconds(30);

    @Option(names = "--demo", description = "no effect: this example always ends by itself")
    private boolean unused;

    @Mixin
    private final EtcdOption etcd = new EtcdOption();

    private Leader() {}

    /**
     * Runs the example and ends the JVM: 0 if each leader took over with a higher token, 1 if not, 2 if the arguments
     * are wrong or there is no etcd.
     *
     * @param args the options
     */
    public static void main(String[] args) {
        Launcher.run(new Leader(), args);
    }

    @Override
    public Integer call() {
        // Only the main thread ever waits.
        return etcd.use(this::elections).blockOptional().orElseThrow();
    }

    private Mono<Integer> elections(List<String> endpoints) {
        Print.line("%d processes ask for the lock '%s'", CANDIDATES, Candidate.KEY);
        return Mono.usingWhen(
                start(endpoints),
                candidates -> Mono.usingWhen(
                        Mono.fromSupplier(() -> Candidate.lock("operator", endpoints)),
                        operator -> terms(candidates, operator),
                        LockClient::close),
                candidates -> Flux.fromIterable(candidates)
                        .filter(ChildProcess::isAlive)
                        .flatMap(candidate -> candidate.end(Mono.fromRunnable(candidate::terminate)))
                        .then());
    }

    private static Mono<List<ChildProcess>> start(List<String> endpoints) {
        return Flux.range(1, CANDIDATES)
                .map(number -> "process-" + number)
                .concatMap(name -> Mono.fromCallable(() -> {
                            List<String> args = new ArrayList<>(List.of(name));
                            args.addAll(endpoints);
                            return ChildProcess.start(
                                    name, Redirect.INHERIT, Candidate.class, args.toArray(String[]::new));
                        })
                        .subscribeOn(Schedulers.boundedElastic()))
                .collectList();
    }

    private static Mono<Integer> terms(List<ChildProcess> candidates, LockClient operator) {
        Mono<LockInfo.Held> term = Mono.delay(TERM).then(leader(candidates, operator));
        return allWait(operator)
                .thenMany(Flux.range(1, CANDIDATES - 1))
                .concatMap(any -> term.delayUntil(leader -> kill(candidates, operator, leader)))
                .concatWith(term)
                .collectList()
                .map(Leader::judge);
    }

    /** A leader that is killed too early has no successor yet. */
    private static Mono<Void> allWait(LockClient operator) {
        return look(operator, held -> held.waiters() == CANDIDATES - 1).then();
    }

    private static Mono<LockInfo.Held> leader(List<ChildProcess> candidates, LockClient operator) {
        return look(
                operator,
                held -> candidates.stream()
                        .anyMatch(candidate ->
                                candidate.isAlive() && candidate.name().equals(held.owner())));
    }

    /** Completes when there is another leader. */
    private static Mono<Void> kill(List<ChildProcess> candidates, LockClient operator, LockInfo.Held leader) {
        return Mono.defer(() -> {
            long killed = System.nanoTime();
            Print.line("  kill -9 %s", leader.owner());
            return Flux.fromIterable(candidates)
                    .filter(candidate -> candidate.name().equals(leader.owner()))
                    .doOnNext(ChildProcess::kill)
                    .flatMap(ChildProcess::exit)
                    .then(leader(candidates, operator))
                    .doOnNext(next -> Print.line(
                            "  %s took over %.1f s after the kill", next.owner(), (System.nanoTime() - killed) / 1e9))
                    .then();
        });
    }

    private static Mono<LockInfo.Held> look(LockClient operator, Predicate<LockInfo.Held> isSo) {
        return operator.inspect(Candidate.KEY)
                .retry(ASKED_AGAIN)
                .ofType(LockInfo.Held.class)
                .filter(isSo)
                .repeatWhenEmpty(again -> again.delayElements(LOOK))
                .timeout(LIMIT, Mono.error(() -> new IllegalStateException("there was no election within " + LIMIT)));
    }

    private static int judge(List<LockInfo.Held> leaders) {
        boolean rising = IntStream.range(1, leaders.size())
                .allMatch(term ->
                        leaders.get(term).fencingToken() > leaders.get(term - 1).fencingToken());
        long different = leaders.stream().map(LockInfo.Held::owner).distinct().count();
        Print.line(
                "leaders=%d killed=%d tokens=%s rising=%s",
                different,
                leaders.size() - 1,
                leaders.stream().map(LockInfo.Held::fencingToken).toList(),
                rising);
        return rising && different == leaders.size() ? 0 : 1;
    }
}
