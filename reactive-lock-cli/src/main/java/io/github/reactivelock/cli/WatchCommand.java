package io.github.reactivelock.cli;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import reactor.core.publisher.Mono;

/** Prints what happens to a lock, as the store tells it. */
@Command(
        name = "watch",
        header = "Prints every change of a lock's owner, until Ctrl-C.",
        description = {
            "How the lock stands comes first, and again after each interruption of the connection.",
            "With --json each line is an object."
        })
final class WatchCommand extends StoreCommand {

    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSXXX");

    @Parameters(paramLabel = "KEY", description = "the lock's key")
    private String key = "";

    /** For picocli, which fills it in. */
    WatchCommand() {}

    @Override
    Mono<ExitCode> question(LockClient client) {
        return client.events(key)
                .doOnNext(this::show)
                .takeWhile(event -> !isPipeClosed())
                .then(Mono.just(ExitCode.DONE));
    }

    private void show(LockEvent event) {
        Instant now = Instant.now().truncatedTo(ChronoUnit.MILLIS);
        String time = OffsetDateTime.ofInstant(now, ZoneId.systemDefault()).format(TIME);
        print(List.of(time + "  " + Table.visible(text(event))), json(event).with("time", now.toString()));
    }

    private static String text(LockEvent event) {
        if (event instanceof LockEvent.Acquired acquired) {
            return "acquired  token " + acquired.fencingToken() + "  " + acquired.owner();
        }
        if (event instanceof LockEvent.Released released) {
            return "released  token " + released.fencingToken();
        }
        return ((LockEvent.Snapshot) event).info() instanceof LockInfo.Held held
                ? "held      token " + held.fencingToken() + "  " + held.owner() + "  for "
                        + Durations.shown(held.age()) + ", waiters " + held.waiters()
                : "free";
    }

    private static Json json(LockEvent event) {
        if (event instanceof LockEvent.Acquired acquired) {
            return named("acquired", event)
                    .with("owner", acquired.owner())
                    .with("token", Long.toString(acquired.fencingToken()));
        }
        if (event instanceof LockEvent.Released released) {
            return named("released", event).with("token", Long.toString(released.fencingToken()));
        }
        return named("snapshot", event).with("lock", Locks.json(((LockEvent.Snapshot) event).info()));
    }

    private static Json named(String name, LockEvent event) {
        return new Json().with("event", name).with("key", event.key());
    }
}
