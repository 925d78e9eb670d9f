package io.github.reactivelock.examples.failover;

import io.github.reactivelock.examples.Launcher;
import io.github.reactivelock.examples.Print;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import reactor.core.publisher.Flux;

/** The command: kills servers under a held lock, and prints what happens to the lock. */
@Command(
        name = "examples/run failover",
        description = "What happens to a held lock and its token when servers are killed:"
                + " one Redis with a replica that takes over, and a quorum of five.",
        usageHelpAutoWidth = true)
public final class Failover implements Callable<Integer> {

    static final String KEY = "nightly-report";
    static final Duration LEASE = Duration.ofSeconds(3);

    /** The result of one scene. */
    record Outcome(List<Long> tokens, boolean asPromised) {}

    @Option(names = "--demo", description = "no effect: this example always ends by itself")
    private boolean unused;

    private Failover() {}

    /**
     * Runs the example and ends the JVM: 0 if all went as promised, 1 if not, 2 if the arguments are wrong.
     *
     * @param args the options
     */
    public static void main(String[] args) {
        Launcher.run(new Failover(), args);
    }

    @Override
    public Integer call() {
        // Only the main thread ever waits.
        return Flux.concat(WithReplica.keepsWhatWasReplicated(), WithReplica.losesWhatWasNot(), FiveServers.show())
                .collectList()
                .map(Failover::judge)
                .blockOptional()
                .orElseThrow();
    }

    static double seconds(long since) {
        return (System.nanoTime() - since) / 1e9;
    }

    private static int judge(List<Outcome> scenes) {
        boolean promised = scenes.stream().allMatch(Outcome::asPromised);
        boolean rising = scenes.stream()
                .map(Outcome::tokens)
                .allMatch(tokens -> IntStream.range(1, tokens.size()).allMatch(i -> tokens.get(i) > tokens.get(i - 1)));
        Print.line("");
        Print.line("as_promised=%s tokens_rising=%s", promised, rising);
        return promised && rising ? 0 : 1;
    }
}
