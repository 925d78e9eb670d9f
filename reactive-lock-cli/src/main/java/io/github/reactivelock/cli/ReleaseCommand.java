package io.github.reactivelock.cli;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.state.LockInfo;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import reactor.core.publisher.Mono;

/** Takes a lock away from its holder. */
@Command(
        name = "release",
        header = "Takes a lock away from its holder, with --force.",
        description = {
            "Without --force nothing is removed; it shows what would be.",
            "Until the holder learns of it, two may believe that they hold the lock."
        })
final class ReleaseCommand extends StoreCommand {

    @Parameters(paramLabel = "KEY", description = "the lock's key")
    private String key = "";

    @Option(names = "--force", description = "removes the hold; a later one stays")
    private boolean isForced;

    @Option(
            names = "--token",
            paramLabel = "TOKEN",
            description = "removes the hold only if this is its token, as show and a holder's log have it")
    private @Nullable Long token;

    /** For picocli, which fills it in. */
    ReleaseCommand() {}

    @Override
    Mono<ExitCode> question(LockClient client) {
        return client.inspect(key)
                .flatMap(lock -> lock instanceof LockInfo.Held held
                        ? removed(client, held)
                        : Mono.just(end(lock, false, "nothing was removed: the lock is not held")));
    }

    private Mono<ExitCode> removed(LockClient client, LockInfo.Held held) {
        if (token != null && !isOfThatGrant(token, held)) {
            return Mono.just(end(held, false, "nothing was removed: the hold has another token than " + token));
        }
        if (!isForced) {
            return Mono.just(end(
                    held,
                    false,
                    "nothing was removed; to remove exactly this hold: " + ReactiveLock.NAME
                            + " release --force --token " + held.fencingToken() + " " + shellWord(key)));
        }
        return client.forceRelease(key, held.fencingToken())
                .map(wasInForce -> end(
                        held,
                        wasInForce,
                        wasInForce ? "removed" : "nothing was removed: the hold ended by itself just now"));
    }

    /** Flows of one process that pass the lock on have tokens of their own, and one hold at the store. */
    private static boolean isOfThatGrant(long token, LockInfo.Held held) {
        return token >> LockBackend.PASS_BITS == held.fencingToken() >> LockBackend.PASS_BITS;
    }

    private ExitCode end(LockInfo seen, boolean isRemoved, String text) {
        List<String> lines = new ArrayList<>(Locks.lines(seen));
        lines.add(text);
        print(lines, new Json().with("key", key).with("removed", isRemoved).with("lock", Locks.json(seen)));
        return isRemoved ? ExitCode.DONE : ExitCode.NO;
    }

    /** As a shell reads it; what cannot be shown as it is has to be typed by hand. */
    private static String shellWord(String text) {
        if (!Table.visible(text).equals(text)) {
            return "KEY";
        }
        return text.matches("[A-Za-z0-9:._/@+,][A-Za-z0-9:._/@+,-]*") ? text : "'" + text.replace("'", "'\\''") + "'";
    }
}
