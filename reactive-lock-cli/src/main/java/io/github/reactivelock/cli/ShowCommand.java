package io.github.reactivelock.cli;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.state.LockInfo;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import reactor.core.publisher.Mono;

/** Shows one lock. */
@Command(name = "show", header = "Shows who holds a lock, for how long, and who waits for it.")
final class ShowCommand extends StoreCommand {

    @Parameters(paramLabel = "KEY", description = "the lock's key")
    private String key = "";

    /** For picocli, which fills it in. */
    ShowCommand() {}

    @Override
    Mono<ExitCode> question(LockClient client) {
        return client.inspect(key).map(this::show);
    }

    private ExitCode show(LockInfo lock) {
        print(Locks.lines(lock), Locks.json(lock));
        return lock.isHeld() ? ExitCode.DONE : ExitCode.NO;
    }
}
