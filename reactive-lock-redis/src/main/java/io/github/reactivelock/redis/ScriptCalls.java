package io.github.reactivelock.redis;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.EndlessRetry;
import io.github.reactivelock.spi.support.SilenceClock;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** Calls of the script that is the protocol, by its verbs, with errors that say what to do. */
final class ScriptCalls {

    // As long as a first connection may take. A caller that gives up before gets to read the refusal all the same.
    private static final Duration PASSING = Duration.ofSeconds(10);
    private static final Duration PASSING_PAUSE = Duration.ofMillis(25);
    private static final Duration LONGEST_PASSING_PAUSE = Duration.ofMillis(250);
    private static final Duration FRESH = LONGEST_PASSING_PAUSE.multipliedBy(4);

    private record Refusal(String server, String words, long at) {}

    // What each of the four keys holds, in the order of KeyLayout.all.
    private static final List<String> TYPES = List.of("string", "string", "zset", "hash");

    // Read from the jar when the first backend is made, not by the thread that asks first: that one must not block.
    private final RedisScript script = RedisScript.lock();
    private final RedisConnection connection;
    private final KeyLayout names;
    private final String prefix;
    private volatile Refusal refusal = new Refusal("", "", System.nanoTime());

    ScriptCalls(RedisConnection connection, KeyLayout names, String prefix) {
        this.connection = connection;
        this.names = names;
        this.prefix = prefix;
    }

    /**
     * A verb on one lock. Slots on the move and shards that fail over serve again soon; claims that wait may well ask
     * then.
     */
    Mono<List<Object>> run(String key, String verb, String... args) {
        List<String> keys = names.all(key);
        List<String> arguments = arguments(verb, args);
        return connection.eval(script, keys, arguments).onErrorResume(error -> again(keys, arguments, error));
    }

    /** A claim or a vote, asked again behind a hundred dead claims each time, until it is decided. */
    Mono<List<Object>> decided(Mono<List<Object>> question) {
        return question.flatMap(reply -> RedisReplies.isDecided(reply)
                ? Mono.just(reply)
                : question.repeat().filter(RedisReplies::isDecided).next());
    }

    private Mono<List<Object>> again(List<String> keys, List<String> arguments, Throwable error) {
        if (RedisFailure.isOfOneKey(error)) {
            return alone(keys, arguments).onErrorResume(last -> explained(keys, last));
        }
        if (!isPassing(keys, error)) {
            return explained(keys, error);
        }
        SilenceClock silenceClock = SilenceClock.ofThisProcess();
        long until = silenceClock.now() + PASSING.toNanos();
        Retry retries = EndlessRetry.after(PASSING_PAUSE, LONGEST_PASSING_PAUSE)
                .filter(last -> isPassing(keys, last) && silenceClock.now() - until < 0);
        Disposable counting = silenceClock.after(PASSING, () -> {}); // the clock goes on while somebody waits for it
        return Mono.delay(PASSING_PAUSE, DriverThreads.timer())
                .then(connection.eval(script, keys, arguments).retryWhen(retries))
                .doFinally(end -> counting.dispose())
                .onErrorResume(last -> explained(keys, last));
    }

    private boolean isPassing(List<String> keys, Throwable error) {
        boolean passes = RedisFailure.isPassing(error);
        if (passes) {
            String server = connection.server(keys.get(0));
            String words = String.valueOf(
                    RedisFailure.explain(connection, server, prefix, error).getMessage());
            refusal = new Refusal(server, words, System.nanoTime());
        }
        return passes;
    }

    /** What the server said to a question that is being asked again; empty if there is none now. */
    String passing() {
        Refusal last = refusal;
        return System.nanoTime() - last.at < FRESH.toNanos() ? last.words : "";
    }

    /** As {@link #passing()}, of one server: what another one of a cluster said is no reason for this one's silence. */
    String passing(String server) {
        return refusal.server.equals(server) ? passing() : "";
    }

    /** Joined with no other call: a key that the user may not touch has all calls refused that leave with it. */
    private Mono<List<Object>> alone(List<String> keys, List<String> arguments) {
        RedisBatch one = RedisBatch.ofOne(keys, arguments);
        return connection.eval(script, one.keys(), one.args()).map(RedisReplies::only);
    }

    private Mono<List<Object>> explained(List<String> keys, Throwable error) {
        return reason(keys, error).flatMap(Mono::error);
    }

    /** Why something about a lock was refused, in words for a user. */
    Mono<Throwable> reason(List<String> keys, Throwable error) {
        String foreign = RedisFailure.foreignKey(error);
        if (!foreign.isEmpty()) {
            return Mono.just(RedisFailure.foreign(connection, foreign, "string of another form", error));
        }
        Throwable explained = RedisFailure.explain(connection, connection.server(keys.get(0)), prefix, error);
        if (!RedisFailure.isWrongType(error)) {
            return Mono.just(explained);
        }
        // The server does not say which key it meant.
        return connection
                .eval(script, keys, arguments("foreign", TYPES.toArray(String[]::new)))
                .<Throwable>map(reply -> reply.isEmpty()
                        ? explained
                        : RedisFailure.foreign(connection, "" + reply.get(0), "" + reply.get(1), error))
                .onErrorReturn(explained);
    }

    /** The renewal of several locks of one slot: the verb, and what it needs. */
    Mono<List<Object>> renew(List<String> keys, List<String> args) {
        return connection.eval(script, keys, args);
    }

    /** As {@link #renew}, acknowledged by replicas. */
    Mono<List<Object>> renewAndWait(List<String> keys, List<String> args, RedisBackendOptions options) {
        return connection.evalAndWait(script, keys, args, options.replicas(), options.replicaTimeout());
    }

    /** How the server keeps its memory. On a cluster one node is asked, any of them. */
    Mono<List<Object>> memory(String client) {
        return connection.eval(script, List.of(names.owner(client)), arguments("memory"));
    }

    /** Rounded up: the store must not forget before the engine does. */
    static String millis(Claim claim) {
        return Long.toString(claim.lease().plusNanos(999_999).toMillis());
    }

    static String units(Share share) {
        return Integer.toString(share.units());
    }

    static String capacity(Share share) {
        return Integer.toString(share.capacity());
    }

    private static List<String> arguments(String verb, String... args) {
        String[] all = new String[args.length + 1];
        all[0] = verb;
        System.arraycopy(args, 0, all, 1, args.length);
        return Arrays.asList(all);
    }
}
