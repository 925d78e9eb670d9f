package io.github.reactivelock.examples.leader;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.election.ElectionState.Following;
import io.github.reactivelock.election.LeaderElection;
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
import java.util.function.Function;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The command: starts the candidates, lets the first leader step down, kills the next two, and checks who took over.
 */
@Command(
        name = "examples/run leader",
        description =
                "Three processes on etcd. One leads; it steps down or is killed, and the next one takes over in a higher term.",
        usageHelpAutoWidth = true)
public final class Leader implements Callable<Integer> {

    private static final int CANDIDATES = 3;
    private static final Duration LOOK = Duration.ofMillis(50);
    private static final Duration TERM = Duration.ofMillis(1_600);
    private static final long ASKED_AGAIN = 5;
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @Option(names = "--demo", description = "no effect: this example always ends by itself")
    private boolean unused;

    @Mixin
    private final EtcdOption etcd = new EtcdOption();

    private Leader() {}

    /**
     * Runs the example and ends the JVM: 0 if each leader took over in a higher term, 1 if not, 2 if the arguments
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
        Mono<Following> term = Mono.delay(TERM).then(leader(candidates, operator));
        return allWait(operator)
                .thenMany(term)
                .delayUntil(leader ->
                        followed(candidates, operator, leader, "told to resign:", gone -> gone.tell(Candidate.RESIGN)))
                .concatWith(allWait(operator)
                        .thenMany(Flux.range(1, CANDIDATES - 1))
                        .concatMap(any ->
                                term.delayUntil(leader -> followed(candidates, operator, leader, "kill -9", killed -> {
                                    killed.kill();
                                    return killed.exit();
                                }))))
                .concatWith(term)
                .collectList()
                .map(Leader::judge);
    }

    /** A leader that goes too early has no successor yet. */
    private static Mono<Void> allWait(LockClient operator) {
        return operator.inspect(Candidate.KEY)
                .retry(ASKED_AGAIN)
                .ofType(LockInfo.Held.class)
                .filter(held -> held.waiters() == CANDIDATES - 1)
                .repeatWhenEmpty(again -> again.delayElements(LOOK))
                .timeout(LIMIT)
                .then();
    }

    /** The one that leads, or the next one if that has died. */
    private static Mono<Following> leader(List<ChildProcess> candidates, LockClient operator) {
        return LeaderElection.of(operator, Candidate.KEY)
                .observe()
                .ofType(Following.class)
                .filter(seen -> candidates.stream()
                        .anyMatch(candidate ->
                                candidate.isAlive() && candidate.name().equals(seen.leader())))
                .next()
                .timeout(LIMIT, Mono.error(() -> new IllegalStateException("there was no election within " + LIMIT)));
    }

    /** Lets a leader go, and completes when another one leads. */
    private static Mono<Void> followed(
            List<ChildProcess> candidates,
            LockClient operator,
            Following leader,
            String how,
            Function<ChildProcess, Mono<Void>> end) {
        return Mono.defer(() -> {
            long began = System.nanoTime();
            Print.line("  %s %s", how, leader.leader());
            return Flux.fromIterable(candidates)
                    .filter(candidate -> candidate.name().equals(leader.leader()))
                    .flatMap(end)
                    .then(LeaderElection.of(operator, Candidate.KEY)
                            .observe()
                            .ofType(Following.class)
                            .filter(seen -> seen.term() > leader.term())
                            .next()
                            .timeout(LIMIT))
                    .doOnNext(next ->
                            Print.line("  %s took over after %.1f s", next.leader(), (System.nanoTime() - began) / 1e9))
                    .then();
        });
    }

    private static int judge(List<Following> leaders) {
        boolean rising = IntStream.range(1, leaders.size())
                .allMatch(
                        term -> leaders.get(term).term() > leaders.get(term - 1).term());
        long different = leaders.stream().map(Following::leader).distinct().count();
        Print.line(
                "leaders=%d resigned=1 killed=%d terms=%s rising=%s",
                different,
                leaders.size() - 2,
                leaders.stream().map(Following::term).toList(),
                rising);
        return rising && different == CANDIDATES ? 0 : 1;
    }
}
