package io.github.reactivelock.redis;

import java.util.List;
import java.util.Set;

/**
 * What an error says of the next try: the one table of refusals that pass, for both clients and for the nodes of a
 * quorum.
 */
public enum RedisRefusal {

    /** The server says that it does not serve now and will soon: it is asked again for as long as its caller waits. */
    PASSES,

    /** The server refuses until somebody changes something there or here: the caller gets to read it at once. */
    LASTS,

    /** The server has said nothing, or nothing that is known. */
    UNKNOWN;

    private static final Set<String> PASSING_CODES = Set.of(
            "LOADING", // it reads its data after a restart
            "BUSY", // it runs a script of somebody that takes long
            "MASTERDOWN", // a replica without its primary
            "READONLY", // a fail-over, which leads to another server
            "NOREPLICAS", // min-replicas-to-write, while a replica restarts
            "CLUSTERDOWN", // a shard that fails over
            "TRYAGAIN"); // a slot on the move
    private static final List<String> PASSING_WORDS = List.of("max number of clients");

    private static final Set<String> LASTING_CODES =
            Set.of("NOAUTH", "WRONGPASS", "NOPERM", "DENIED", "MISCONF", "OOM");
    private static final List<String> LASTING_WORDS = List.of(
            NeededCommands.SIGN,
            "invalid password",
            "without any password configured",
            "no password is set",
            "DB index is out of range",
            "invalid DB index",
            "not allowed in cluster mode",
            "cluster support disabled");

    /**
     * Looks for the server's own word in what a client library says.
     *
     * @param error of any client library
     * @return what it means for the next try
     */
    public static RedisRefusal of(Throwable error) {
        String words = RedisFailure.words(error);
        String code = RedisScript.errorCode(words);
        if (PASSING_CODES.contains(code) || PASSING_WORDS.stream().anyMatch(words::contains)) {
            return PASSES;
        }
        return LASTING_CODES.contains(code) || LASTING_WORDS.stream().anyMatch(words::contains) ? LASTS : UNKNOWN;
    }
}
