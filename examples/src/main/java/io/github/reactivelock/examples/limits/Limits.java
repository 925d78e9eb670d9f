package io.github.reactivelock.examples.limits;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.examples.ChildProcess;
import io.github.reactivelock.examples.Launcher;
import io.github.reactivelock.examples.Print;
import io.github.reactivelock.examples.RedisOption;
import io.github.reactivelock.state.LockInfo;
import java.lang.ProcessBuilder.Redirect;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The command: starts the fleet, kills a process of it, and looks how many calls the partner has at once. */
@Command(
        name = "examples/run limits",
        description =
                "Three processes may call a slow partner twenty times at once. One is killed; its permits come back.",
        usageHelpAutoWidth = true)
public final class Limits implements Callable<Integer> {

    private static final int PROCESSES = 3;
    private static final Duration LOOK = Duration.ofMillis(20);
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int SHOWN = 3;

    @Option(names = "--demo", description = "no effect: this example always ends by itself")
    private boolean unused;

    @Mixin
    private final RedisOption redis = new RedisOption();

    private Limits() {}

    /**
     * Runs the example and ends the JVM: 0 if there were never more calls than permits and all permits came back, 1 if
     * not, 2 if the arguments are wrong.
     *
     * @param args the options
     */
    public static void main(String[] args) {
        Launcher.run(new Limits(), args);
    }

    @Override
    public Integer call() {
        // Only the main thread ever waits.
        return redis.use(uri -> Mono.usingWhen(
                        Mono.fromCallable(Partner::new).subscribeOn(Schedulers.boundedElastic()),
                        partner -> fleet(uri, partner),
                        Partner::stop))
                .blockOptional()
                .orElseThrow();
    }

    private static Mono<Integer> fleet(String uri, Partner partner) {
        Print.line("%d processes may call the partner %d times at once", PROCESSES, Caller.LIMIT);
        return Mono.usingWhen(
                start(uri, partner),
                processes -> Mono.usingWhen(
                        Mono.fromSupplier(() -> Caller.lock("operator", uri)),
                        operator -> story(operator, partner, processes.get(0)),
                        LockClient::close),
                processes -> Flux.fromIterable(processes)
                        .filter(ChildProcess::isAlive)
                        .flatMap(process -> process.end(Mono.fromRunnable(process::terminate)))
                        .then());
    }

    private static Mono<List<ChildProcess>> start(String uri, Partner partner) {
        return Flux.range(1, PROCESSES)
                .map(number -> "process-" + number)
                .concatMap(name -> Mono.fromCallable(() ->
                                ChildProcess.start(name, Redirect.INHERIT, Caller.class, name, uri, partner.uri()))
                        .subscribeOn(Schedulers.boundedElastic()))
                .collectList();
    }

    private static Mono<Integer> story(LockClient operator, Partner partner, ChildProcess victim) {
        return full(operator, victim.name(), true)
                .doOnNext(shares -> tell(partner, shares))
                .then(Mono.defer(() -> {
                    long killed = System.nanoTime();
                    Print.line("  kill -9 %s", victim.name());
                    victim.kill();
                    return victim.exit()
                            .then(full(operator, victim.name(), false))
                            .doOnNext(shares -> tell(partner, shares))
                            .map(shares -> judge(partner, (System.nanoTime() - killed) / 1e9));
                }));
    }

    /** Waits until all permits are taken, some or none of them by one process. */
    private static Mono<LockInfo.Shares> full(LockClient operator, String name, boolean isIn) {
        return operator.inspect(Caller.KEY)
                .filter(info -> info.isHeldBy(name) == isIn)
                .mapNotNull(info -> info.held().map(LockInfo.Held::shares).orElse(null))
                .filter(shares -> shares.units() == Caller.LIMIT)
                .repeatWhenEmpty(again -> again.delayElements(LOOK))
                .timeout(PATIENCE);
    }

    private static void tell(Partner partner, LockInfo.Shares shares) {
        Print.line(
                "  %d permits in use, %d calls at the partner; the last permits went to",
                shares.units(), partner.now());
        shares.first().stream()
                .limit(SHOWN)
                .forEach(holder -> Print.line("    %s, token %d", holder.owner(), holder.fencingToken()));
    }

    private static int judge(Partner partner, double seconds) {
        boolean kept = partner.most() <= Caller.LIMIT;
        Print.line(
                "calls=%d most-at-once=%d killed=1 all-permits-back-after=%.1fs within-the-limit=%s",
                partner.calls(), partner.most(), seconds, kept);
        return kept ? 0 : 1;
    }
}
