package io.github.reactivelock.redis;

import java.util.ArrayList;
import java.util.List;

/**
 * Whether scripts may run the commands that the protocol cannot do without. A connection asks once it is open, ahead of
 * the first call: a server without PUBLISH would grant locks, and fail only when one is handed on.
 */
public final class NeededCommands {

    /** What an error of a server that lacks one begins with. */
    static final String SIGN = "scripts cannot run ";

    private static final RedisScript CHECK = RedisScript.load("check.lua");

    private NeededCommands() {}

    /**
     * The channel that the script writes to, its only argument. It has the prefix, or the user might not be permitted
     * to use it, and is a sharded one where grants come by those.
     *
     * @param options how locks are laid out
     * @return a channel without listeners
     */
    public static String channel(RedisBackendOptions options) {
        return options.hasShardedChannels()
                ? KeyLayout.ofShards(options.prefix()).check()
                : KeyLayout.permittedChannels(options.prefix()) + "check";
    }

    /**
     * The script that finds out. It takes no key and stores nothing. An error of it says nothing of the commands.
     *
     * @return a script for {@code EVAL}, which answers with a list for {@link #refusals}
     */
    public static RedisScript check() {
        return CHECK;
    }

    /**
     * What is wrong with the server.
     *
     * @param answer of the script, of name and error of each command that is missing
     * @return the error that callers are to get, or nothing if all commands are there
     */
    public static List<IllegalStateException> refusals(List<Object> answer) {
        List<String> missing = new ArrayList<>();
        for (int i = 0; i + 1 < answer.size(); i += 2) {
            missing.add(answer.get(i) + " (" + String.valueOf(answer.get(i + 1)).replaceAll(" script: .*", "") + ")");
        }
        return missing.isEmpty() ? List.of() : List.of(new IllegalStateException(SIGN + String.join(" and ", missing)));
    }
}
