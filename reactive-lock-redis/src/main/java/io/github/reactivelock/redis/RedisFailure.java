package io.github.reactivelock.redis;

import io.github.reactivelock.spi.SignalsRefusedException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Why Redis could not be asked, in one line for the user: where, what happened and what to do, without any secret. */
final class RedisFailure extends RuntimeException {

    private static final long serialVersionUID = 1L;
    private static final int LONGEST_QUOTE = 200;
    private static final Pattern NAMED = Pattern.compile("\\bUser (\\S+) has no permissions");

    /**
     * What to do about an error that says one of these words, or is of a class whose name has one in it. Drivers are
     * not known here, and some of them tell what went wrong only among other things.
     */
    private record Remedy(String advice, List<String> signs) {
        static Remedy of(String advice, String... signs) {
            return new Remedy(advice, List.of(signs));
        }

        /** What was said, if this is the remedy for it. */
        Optional<String> quoted(Throwable error) {
            String said = said(error);
            String name = classNames(error);
            return signs.stream()
                    .filter(sign -> said.contains(sign) || name.contains(sign))
                    .map(sign -> said.contains(sign) ? line(said, sign) : text(error))
                    .findFirst();
        }
    }

    private static final String AS_A_CLUSTER =
            "connect to it as to a cluster (connectCluster, in Vert.x RedisClientType.CLUSTER)";

    /** What a connection says of an answer that leaves open what was done. */
    static final String SENT_AGAIN = "what was sent again found nothing";

    private static final String AT_FIRST = ": if it speaks TLS on this port, write rediss:// for redis://";
    private static final String AFTER_OTHERS = ": was it restarted, or does something on the way end connections?";

    // The first that fits counts, so what a server said stands before how a connection ended.
    private static final List<Remedy> REMEDIES = List.of(
            Remedy.of(
                    "may have done it: the connection broke before the answer, and {said}, so it is not known; look at the"
                            + " lock with inspect",
                    SENT_AGAIN),
            Remedy.of(
                    "cannot hold locks, {said}: take rename-command for these out of its configuration, or let this user"
                            + " run them with {user}+time +publish, withShardedChannels +spublish; a service or a"
                            + " proxy that does not have them in scripts is none for locks",
                    NeededCommands.SIGN),
            Remedy.of("asks for a password (NOAUTH): put user and password into the URI", "NOAUTH"),
            Remedy.of(
                    "refuses the user or the password (WRONGPASS): check those in the URI",
                    "WRONGPASS",
                    "invalid password"),
            Remedy.of(
                    "has no password, but was given one ({said}): leave it out of the URI",
                    "without any password configured",
                    "no password is set"),
            Remedy.of(
                    "denies this user a permission ({said}): it needs {user}{permissions}",
                    "NOPERM",
                    "The user executing the script"),
            Remedy.of(
                    "does not let scripts run a command that locks need ({said}): they need TIME and PUBLISH, in a quorum INFO"
                            + " besides, and those of the groups scripting, string, hash, sortedset and keyspace",
                    "nknown Redis command called from",
                    "nknown command called from", // Valkey 9
                    "command is not allowed from script"),
            Remedy.of("is out of memory (OOM): raise maxmemory or remove data; nothing was taken", "OOM "),
            Remedy.of(
                    "is moving this lock's slot to another node (TRYAGAIN): it can be taken again when that is over",
                    "TRYAGAIN"),
            Remedy.of(
                    "does not serve this lock's slot (CLUSTERDOWN): look whether a primary failed that no replica"
                            + " replaced",
                    "CLUSTERDOWN"),
            Remedy.of("is a read-only replica (READONLY): connect to the primary", "READONLY"),
            Remedy.of(
                    "is loading its data and serves nobody yet ({said}): it can be asked again when that is over",
                    "LOADING "),
            Remedy.of(
                    "is busy with a script that takes long ({said}): look which, and end it with SCRIPT KILL", "BUSY "),
            Remedy.of(
                    "is a replica that has lost its primary ({said}): connect to the primary, or look why it is gone",
                    "MASTERDOWN"),
            Remedy.of(
                    "has too few replicas to accept writes ({said}): look why they are gone, or lower"
                            + " min-replicas-to-write there",
                    "NOREPLICAS"),
            Remedy.of(
                    "cannot save to its disk and refuses writes ({said}): look into its log, and mend the disk or set"
                            + " stop-writes-on-bgsave-error no there",
                    "MISCONF"),
            Remedy.of(
                    "runs in protected mode and refuses this host (DENIED): set a password or bind it to the right"
                            + " address",
                    "DENIED"),
            Remedy.of(
                    "takes no more connections ({said}): raise maxclients, or look who keeps so many",
                    "max number of clients"),
            Remedy.of(
                    "has no database {database} ({said}): choose a lower number in the URI, or raise 'databases' in the"
                            + " server's configuration, which is 'cluster-databases' in a cluster of Valkey",
                    "DB index is out of range",
                    "invalid DB index"),
            Remedy.of(
                    "is a node of a cluster, where there is no database {database} ({said}): leave it out, and "
                            + AS_A_CLUSTER,
                    "not allowed in cluster mode"),
            Remedy.of(
                    "is one node of a cluster, and this lock is another's ({said}): " + AS_A_CLUSTER,
                    "MOVED ",
                    "CROSSSLOT"),
            Remedy.of("is no cluster ({said}): connect to it as to a single server", "cluster support disabled"),
            Remedy.of(
                    "is no sentinel ({said}): name a sentinel's port, or connect to it as to a single server",
                    "unknown command 'SENTINEL'",
                    "unknown command `SENTINEL`",
                    "unknown command 'sentinel'"),
            Remedy.of(
                    "names no primary with the name that was asked for ({said}): check the name, and ask the sentinels"
                            + " with SENTINEL MASTERS which there are",
                    "redisAddress using sentinel",
                    "No such master with that name"),
            Remedy.of(
                    "runs no scripts ({said}): if it is a sentinel, connect with redis-sentinel://host:port#name, in"
                            + " Vert.x RedisClientType.SENTINEL",
                    "unknown command 'EVAL",
                    "unknown command `EVAL",
                    "unknown command 'eval"),
            Remedy.of(
                    "does not speak TLS on this port ({said}): name its TLS port, or write redis:// for rediss://",
                    "not an SSL/TLS record",
                    "handshake timed out"),
            Remedy.of(
                    "cannot agree on TLS ({said}): does this JVM trust its certificate, and is the certificate for this"
                            + " host?",
                    "SSL"),
            Remedy.of(
                    "cannot be found ({said}): is the host's name spelled right in the URI, and does DNS know it here?",
                    "UnknownHost"),
            Remedy.of(
                    "ends the connection without a word ({said}){tls}",
                    "closed prematurely",
                    "CONNECTION_CLOSED",
                    "Connection reset"),
            Remedy.of(
                    "cannot be reached ({said}): is it running there, and is the way to it open?",
                    "IOException",
                    "TimeoutException",
                    "Connect"));

    private RedisFailure(String message, Throwable cause) {
        super(message, cause, true, false); // the cause says where it was
    }

    /** Puts any error of any client library into words; they all carry the server's own text somewhere. */
    static Throwable explain(RedisConnection connection, String prefix, Throwable error) {
        return explain(connection, connection.server(), prefix, error);
    }

    /** The same for one server of a cluster. */
    static Throwable explain(RedisConnection connection, String server, String prefix, Throwable error) {
        if (error instanceof RedisFailure || error instanceof SignalsRefusedException) {
            return error;
        }
        return explained(connection, server, RedisPermissions.ofLocks(prefix), error);
    }

    /** As {@link #explain}, of a command that a guard runs on a key of the user. */
    static Throwable guarded(RedisConnection connection, String key, String tokenKey, String command, Throwable error) {
        return error instanceof RedisFailure
                ? error
                : explained(
                        connection,
                        connection.server(tokenKey),
                        RedisPermissions.ofGuard(key, tokenKey, command),
                        error);
    }

    private static RedisFailure explained(
            RedisConnection connection, String server, String permissions, Throwable error) {
        return new RedisFailure("Redis at " + server + " " + advice(connection, permissions, error), error);
    }

    static RuntimeException channel(RedisConnection connection, String prefix, String channel, Throwable error) {
        String text = text(error);
        if (text.contains("NOPERM")) {
            return new SignalsRefusedException(
                    "Redis at " + connection.server() + " does not let this user listen to channel '" + channel + "' ("
                            + text + "): allow it with "
                            + RedisPermissions.setUser(user(connection, error))
                            + RedisPermissions.ofChannels(prefix, connection.hasShardedChannels()),
                    error);
        }
        return explained(connection, connection.server(), RedisPermissions.ofLocks(prefix), error);
    }

    static RedisFailure replicas(RedisConnection connection, long have, RedisBackendOptions options) {
        return new RedisFailure(
                "Redis at " + connection.server() + " could not replicate: " + have + " of the " + options.replicas()
                        + " replicas asked for acknowledged within "
                        + options.replicaTimeout().toMillis()
                        + " ms; look whether they are up, or ask for fewer with RedisBackendOptions.withReplicas",
                new IllegalStateException("too few replicas"));
    }

    static RedisFailure foreign(RedisConnection connection, String key, String type, Throwable error) {
        return new RedisFailure(
                "Redis at " + connection.server(key) + " has something that is not a lock under the key '" + key
                        + "' (a "
                        + type
                        + "): delete or rename that key, or choose another prefix with RedisBackendOptions.withPrefix",
                error);
    }

    /** The key that a script found to hold a value it did not write, or an empty text. */
    static String foreignKey(Throwable error) {
        String words = words(error);
        int at = words.indexOf("FOREIGN ");
        return at < 0 ? "" : words.substring(at + "FOREIGN ".length());
    }

    static boolean isWrongType(Throwable error) {
        return words(error).contains("WRONGTYPE");
    }

    /** Whether something that is no lock stands in the place of one. */
    static boolean isForeign(Throwable error) {
        return isWrongType(error) || !foreignKey(error).isEmpty();
    }

    /** Whether the server said that it will be served again soon: a slot on the move, a fail-over. */
    static boolean isPassing(Throwable error) {
        return RedisRefusal.of(error) == RedisRefusal.PASSES;
    }

    /** Whether the server refused a call because of one of its keys, also where the call has other keys. */
    static boolean isOfOneKey(Throwable error) {
        return RedisScript.errorCode(words(error)).equals("NOPERM");
    }

    private static String advice(RedisConnection connection, String permissions, Throwable error) {
        List<Throwable> all = everyCause(error);
        for (Remedy remedy : REMEDIES) {
            Optional<String> said =
                    all.stream().flatMap(cause -> remedy.quoted(cause).stream()).findFirst();
            if (said.isPresent()) {
                return remedy.advice
                        .replace("{database}", Integer.toString(connection.database()))
                        .replace("{tls}", connection.wasReady() ? AFTER_OTHERS : AT_FIRST)
                        .replace("{said}", said.get())
                        .replace("{user}", RedisPermissions.setUser(user(connection, error)))
                        .replace("{permissions}", permissions);
            }
        }
        return "refused or failed: " + text(error);
    }

    /** Servers since 7.2 name the user themselves. */
    private static String user(RedisConnection connection, Throwable error) {
        return everyCause(error).stream()
                .map(cause -> NAMED.matcher(said(cause)))
                .filter(Matcher::find)
                .map(found -> found.group(1))
                .findFirst()
                .orElseGet(connection::user);
    }

    /** The error itself, what it came from, and what drivers tell beside it; the innermost first. */
    private static List<Throwable> everyCause(Throwable error) {
        List<Throwable> all = new ArrayList<>();
        Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        collect(error, seen, all);
        return all;
    }

    private static void collect(@Nullable Throwable error, Set<Throwable> seen, List<Throwable> all) {
        if (error != null && seen.add(error)) {
            collect(error.getCause(), seen, all);
            for (Throwable beside : error.getSuppressed()) {
                collect(beside, seen, all);
            }
            all.add(error);
        }
    }

    /**
     * Names of an error's class and of all above it; it may be of any client library, which this module does not know.
     */
    private static String classNames(Throwable error) {
        StringBuilder names = new StringBuilder();
        for (Class<?> type = error.getClass(); type != Throwable.class && type != null; type = type.getSuperclass()) {
            names.append(type.getSimpleName()).append(' ');
        }
        return names.toString();
    }

    private static String text(Throwable error) {
        return line(words(error), "");
    }

    /** What the innermost cause that has words said. */
    static String words(Throwable error) {
        Throwable deepest = error;
        while (deepest.getCause() != null
                && (deepest instanceof CompletionException
                        || deepest instanceof ExecutionException
                        || !said(deepest.getCause()).isEmpty())) {
            deepest = deepest.getCause();
        }
        return said(deepest).isEmpty() ? deepest.getClass().getSimpleName() : said(deepest);
    }

    /** The line in which that is said, without what only a driver or the arguments of a command add to it. */
    private static String line(String said, String sign) {
        String line = said.lines()
                .filter(each -> each.contains(sign))
                .findFirst()
                .orElse(said)
                .replaceFirst("^\\s*- (?:[\\w.$]+: )?", "")
                .replaceFirst(", with args beginning with.*", "")
                .strip();
        return line.length() <= LONGEST_QUOTE ? line : line.substring(0, LONGEST_QUOTE) + "…";
    }

    private static String said(Throwable error) {
        // The message of an Error, and of what it came from, is a bare class name, or nothing.
        boolean isBare = error instanceof Error || error instanceof ReflectiveOperationException;
        String message = isBare ? error.toString() : error.getMessage();
        return message == null ? "" : message;
    }
}
