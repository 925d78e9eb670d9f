package io.github.reactivelock.examples.flashsale;

import io.github.reactivelock.examples.Launcher;
import io.github.reactivelock.examples.Print;
import io.github.reactivelock.examples.RedisOption;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The command: sells one stock in three rounds, without the lock, with it, and with it while an instance is killed. */
@Command(
        name = "examples/run flash-sale",
        description = "Several processes sell a few tickets to many buyers: without a lock, with the lock, and with the"
                + " lock while one process is killed.",
        usageHelpAutoWidth = true,
        showDefaultValues = true)
public final class FlashSale implements Callable<Integer> {

    @Option(names = "--buyers", paramLabel = "N", description = "who come at once in each round")
    private int buyers = 2_000;

    @Option(names = "--stock", paramLabel = "N", description = "tickets for sale in each round")
    private int stock = 100;

    @Option(names = "--instances", paramLabel = "N", description = "processes of the application")
    private int instances = 4;

    @Mixin
    private final RedisOption redis = new RedisOption();

    @Spec
    private @Nullable CommandSpec spec;

    private FlashSale() {}

    /**
     * Runs the sale and ends the JVM: 0 if the rounds with the lock were exact, 1 if not or if the sale could not be
     * held, 2 if the arguments are wrong.
     *
     * @param args the options
     */
    public static void main(String[] args) {
        Launcher.run(new FlashSale(), args);
    }

    @Override
    public Integer call() {
        check("--buyers", buyers, 1, 100_000, "");
        check("--stock", stock, 1, 100_000, "");
        check("--instances", instances, 2, 16, "; one of them is killed and another must continue");
        // Only the main thread ever waits.
        Report report = redis.use(this::sale).blockOptional().orElseThrow();
        Print.line("%n%s%n", report.table());
        report.faults().forEach(fault -> System.err.println("flash-sale: " + fault));
        Print.line("%s", report.summary());
        return report.faults().isEmpty() ? 0 : 1;
    }

    private Mono<Report> sale(String uri) {
        Names names = new Names("flash-sale:" + UUID.randomUUID());
        Print.line("%,d buyers, %,d tickets, %d instances", buyers, stock, instances);
        return Mono.usingWhen(
                Fleet.start(uri, names, instances),
                fleet -> fleet.ready()
                        .thenMany(Flux.just(Round.values()))
                        .concatMap(round -> Door.open(fleet, round, buyers, stock))
                        .collectList()
                        .map(results -> new Report(results, buyers, stock)),
                Fleet::close);
    }

    private void check(String option, int value, int least, int most, String reason) {
        if (value < least || value > most) {
            throw new ParameterException(
                    Objects.requireNonNull(spec).commandLine(),
                    option + " must be " + least + " to " + most + " but is " + value + reason);
        }
    }
}
