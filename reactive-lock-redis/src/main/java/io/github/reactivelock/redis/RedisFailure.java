package io.github.reactivelock.redis;

import io.github.reactivelock.spi.SignalsRefusedException;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/** Why Redis could not be asked, in words for the user: what happened and what to do, without any secret. */
final class RedisFailure extends RuntimeException {

    private static final long serialVersionUID = 1L;
    private static final Set<String> PASSING = Set.of("TRYAGAIN", "CLUSTERDOWN", "READONLY");

    private RedisFailure(String message, Throwable cause) {
        super(message, cause);
    }

    /** Puts any error of any client library into words; they all carry the server's own text somewhere. */
    static Throwable explain(RedisConnection connection, String prefix, Throwable error) {
        if (error instanceof RedisFailure || error instanceof SignalsRefusedException) {
            return error;
        }
        String text = text(error);
        return new RedisFailure("Redis at " + connection.server() + " " + advice(prefix, error, text), error);
    }

    static RuntimeException channel(RedisConnection connection, String prefix, String channel, Throwable error) {
        String text = text(error);
        String server = "Redis at " + connection.server() + " ";
        if (text.contains("NOPERM")) {
            return new SignalsRefusedException(
                    server + "does not let this user listen to channel '" + channel + "' (" + text
                            + "): allow it with ACL SETUSER <user> &" + prefix + ":* +subscribe +unsubscribe",
                    error);
        }
        return new RedisFailure(server + advice(prefix, error, text), error);
    }

    static RedisFailure replicas(RedisConnection connection, long have, RedisLockOptions options) {
        return new RedisFailure(
                "Redis at " + connection.server() + " could not replicate: " + have + " of the " + options.replicas()
                        + " replicas asked for acknowledged within "
                        + options.replicaTimeout().toMillis()
                        + " ms; look whether they are up, or ask for fewer with RedisLockOptions.withReplicas",
                new IllegalStateException("too few replicas"));
    }

    static RedisFailure foreign(RedisConnection connection, String key, String type, Throwable error) {
        return new RedisFailure(
                "Redis at " + connection.server() + " has something that is not a lock under the key '" + key + "' (a "
                        + type
                        + "): delete or rename that key, or choose another prefix with RedisLockOptions.withPrefix",
                error);
    }

    /** The key that a script found to hold a value it did not write, or an empty text. */
    static String foreignKey(Throwable error) {
        String text = text(error);
        int at = text.indexOf("FOREIGN ");
        return at < 0 ? "" : text.substring(at + "FOREIGN ".length());
    }

    static boolean isWrongType(Throwable error) {
        return text(error).contains("WRONGTYPE");
    }

    /** Whether the server said that somebody will serve again soon: a slot on the move, a fail-over. */
    static boolean isPassing(Throwable error) {
        return PASSING.contains(RedisScript.errorCode(text(error)));
    }

    private static String advice(String prefix, Throwable error, String text) {
        if (text.contains("NOAUTH")) {
            return "asks for a password (NOAUTH): put user and password into the URI";
        }
        if (text.contains("WRONGPASS") || text.contains("invalid password")) {
            return "refuses the user or the password (WRONGPASS): check those in the URI";
        }
        if (text.contains("NOPERM") || text.contains("The user executing the script")) {
            return "denies this user a permission (" + text + "): it needs ACL SETUSER <user> ~{" + prefix + ":* &"
                    + prefix + ":* +@scripting +@string +@hash +@sortedset +@keyspace +@pubsub +time";
        }
        if (text.contains("OOM ")) {
            return "is out of memory (OOM): raise maxmemory or remove data; nothing was taken";
        }
        if (text.contains("TRYAGAIN")) {
            return "is moving this lock's slot to another node (TRYAGAIN): it can be taken again when that is over";
        }
        if (text.contains("CLUSTERDOWN")) {
            return "does not serve this lock's slot (CLUSTERDOWN): look whether a primary failed that no replica replaced";
        }
        if (text.contains("READONLY")) {
            return "is a read-only replica (READONLY): connect to the primary";
        }
        if (text.contains("DENIED")) {
            return "runs in protected mode and refuses this host (DENIED): set a password or bind it to the right address";
        }
        if (hasCause(error, "SSL")) {
            return "cannot agree on TLS (" + text
                    + "): does it speak TLS on this port, and does this JVM trust its certificate?";
        }
        if (hasCause(error, "IOException", "TimeoutException", "Connect")) {
            return "cannot be reached (" + text + "): is it running there, and is the way to it open?";
        }
        return "refused or failed: " + text;
    }

    /** Looks for classes of any client library, which this module does not know, by parts of their names. */
    private static boolean hasCause(Throwable error, String... names) {
        for (Throwable e = error; e != null; e = e.getCause()) {
            for (Class<?> type = e.getClass(); type != null; type = type.getSuperclass()) {
                if (Arrays.stream(names).anyMatch(type.getSimpleName()::contains)) {
                    return true;
                }
            }
        }
        return false;
    }

    private static String text(Throwable error) {
        Throwable deepest = error;
        while (deepest.getCause() != null
                && (deepest instanceof CompletionException
                        || deepest instanceof ExecutionException
                        || !said(deepest.getCause()).isEmpty())) {
            deepest = deepest.getCause();
        }
        return said(deepest).isEmpty() ? deepest.getClass().getSimpleName() : said(deepest);
    }

    private static String said(Throwable error) {
        // The message of an Error is a bare class name, or nothing.
        String message = error instanceof Error ? error.toString() : error.getMessage();
        return message == null ? "" : message;
    }
}
