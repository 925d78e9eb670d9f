package io.github.reactivelock.cli;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.spi.FencingTokens;
import io.github.reactivelock.state.LockInfo;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Takes a lock away from its holder. */
@Command(
        name = "release",
        header = "Takes a lock away from its holder, with --force.",
        description = {
            "Without --force nothing is removed; it shows what would be.",
            "Of a lock that is shared it removes all who share it, or the one that --token names.",
            "Until the holder learns of it, two may believe that they hold the lock."
        })
final class ReleaseCommand extends StoreCommand {

    private static final String ENDED_BY_ITSELF = "nothing was removed: the hold ended by itself just now";

    @Parameters(paramLabel = "KEY", description = "the lock's key")
    private String key = "";

    @Option(names = "--force", description = "removes the hold; a later one stays")
    private boolean isForced;

    @Option(
            names = "--token",
            paramLabel = "TOKEN",
            description = "removes the hold that has this token and no other, as show and a holder's log have it")
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
        List<Long> meant = meant(held);
        if (meant.isEmpty()) {
            return Mono.just(end(held, false, "nothing was removed: the hold has another token than " + token));
        }
        if (!isForced) {
            String which = meant.size() == 1
                    ? "exactly this hold: "
                    : "one of those who share it, with its token, here the newest: ";
            return Mono.just(end(
                    held,
                    false,
                    "nothing was removed; to remove " + which + ReactiveLock.NAME + " release --force --token "
                            + meant.get(0) + " " + shellWord(key)));
        }
        return Flux.fromIterable(meant)
                .concatMapDelayError(one -> client.forceRelease(key, one))
                .filter(wasInForce -> wasInForce)
                .count()
                .flatMap(removed -> held.shares() == null
                        ? Mono.just(end(held, removed > 0, removed > 0 ? "removed" : ENDED_BY_ITSELF))
                        : client.inspect(key).map(left -> ended(held, holders(held), removed, left)));
    }

    /** Those who share a lock are several, of whom others may hold it still. */
    private ExitCode ended(LockInfo.Held seen, long before, long removed, LockInfo left) {
        long others = left instanceof LockInfo.Held held ? holders(held) : 0;
        String now = others == 0 ? "" : "; " + others + (others == 1 ? " holds" : " hold") + " the lock now";
        String text = removed == 0 ? ENDED_BY_ITSELF : "removed " + removed + " of " + before + " holders";
        return end(seen, removed > 0, text + now);
    }

    private static long holders(LockInfo.Held held) {
        LockInfo.Shares shares = held.shares();
        return shares == null ? 1 : shares.holders();
    }

    /** The grants to remove: the one that has the token, or all that were seen. */
    private List<Long> meant(LockInfo.Held held) {
        LockInfo.Shares shares = held.shares();
        List<Long> seen = shares == null
                ? List.of(held.fencingToken())
                : shares.first().stream().map(LockInfo.Holder::fencingToken).toList();
        Long wanted = token;
        if (wanted == null) {
            return seen;
        }
        long number = wanted;
        List<Long> named =
                seen.stream().filter(one -> isOfThatGrant(number, one)).toList();
        boolean isUnseen = shares != null && shares.holders() > shares.first().size();
        return named.isEmpty() && isUnseen ? List.of(number) : named;
    }

    /** Flows of one process that pass the lock on have tokens of their own, and one hold at the store. */
    private static boolean isOfThatGrant(long token, long held) {
        return FencingTokens.number(token) == FencingTokens.number(held);
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
