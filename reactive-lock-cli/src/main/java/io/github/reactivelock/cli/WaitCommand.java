package io.github.reactivelock.cli;

import io.github.reactivelock.LockClient;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import reactor.core.publisher.Mono;

/** Waits until a hold has ended. */
@Command(
        name = "wait",
        header = "Waits until the hold that is in force now has ended.",
        description = "Takes nothing itself, so the lock may have its next holder by then. Ends at once if it is free.")
final class WaitCommand extends StoreCommand {

    @Parameters(paramLabel = "KEY", description = "the lock's key")
    private String key = "";

    @Option(
            names = "--at-most",
            paramLabel = "TIME",
            converter = Durations.class,
            description = "gives up after this time, with exit code 1: 500ms, 30s, 5m; waits for ever if not given")
    private @Nullable Duration atMost;

    /** For picocli, which fills it in. */
    WaitCommand() {}

    @Override
    Mono<ExitCode> question(LockClient client) {
        Mono<Boolean> over = client.awaitRelease(key).thenReturn(true);
        Mono<Boolean> inTime = atMost == null ? over : over.timeout(atMost, Mono.just(false));
        return inTime.elapsed().map(waited -> show(waited.getT2(), Duration.ofMillis(waited.getT1())));
    }

    private ExitCode show(boolean isOver, Duration waited) {
        String text = Table.visible(key) + (isOver ? ": the hold is over" : ": still held") + ", after "
                + Durations.shown(waited);
        print(
                List.of(text),
                new Json().with("key", key).with("released", isOver).with("waitedMillis", waited.toMillis()));
        return isOver ? ExitCode.DONE : ExitCode.NO;
    }
}
