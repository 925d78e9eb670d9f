package io.github.reactivelock.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Several calls of the lock script as one, for a connection that has more than one to send to the same {@linkplain
 * RedisConnection#slot part} of the store. The server carries them out in the order in which they were added and
 * answers each for itself: one that fails leaves the others alone. Not for several threads.
 */
public final class RedisBatch {

    /** How many calls a batch may have, so that one of them keeps a server busy for less than a millisecond. */
    public static final int MOST_CALLS = 64;

    private static final Set<String> NOT_OF_ONE_LOCK =
            Set.of("batch", "renew", "renew-shares", "foreign", "memory", "scan", "primaries");

    /** Verbs that say whether they found something, which the first of two finds and the second does not. */
    private static final Set<String> FIND_ONCE = Set.of("release", "keep", "force");

    private final List<String> keys;
    private final List<String> args;

    private RedisBatch(List<String> keys, List<String> args) {
        this.keys = keys;
        this.args = args;
    }

    /**
     * Calls that {@linkplain RedisCall#joins join}, or a single one, which is sent as it is.
     *
     * @param calls not empty, in their order
     * @return what to send
     */
    public static RedisBatch of(List<? extends RedisCall> calls) {
        if (calls.size() == 1) {
            return new RedisBatch(calls.get(0).keys(), calls.get(0).args());
        }
        RedisBatch batch = new RedisBatch(new ArrayList<>(4 * calls.size()), new ArrayList<>(10 * calls.size()));
        for (RedisCall call : calls) {
            batch.add(call.keys(), call.args());
        }
        return batch;
    }

    /** A batch of one call: the server answers it as one of several, its error as a text. */
    static RedisBatch ofOne(List<String> keys, List<String> args) {
        RedisBatch batch = new RedisBatch(new ArrayList<>(), new ArrayList<>());
        batch.add(keys, args);
        return batch;
    }

    /** Whether a call can be added: only those that are about one lock can. */
    static boolean takes(RedisScript script, List<String> args) {
        return script.sha1().equals(RedisScript.LOCK.sha1()) && !NOT_OF_ONE_LOCK.contains(args.get(0));
    }

    /**
     * Whether an answer leaves open what a call did, if it was sent more than once because its connection broke: a
     * second release finds nothing where the first one was carried out. A connection then fails the call with
     * {@link #open()}.
     *
     * @param args the call's arguments
     * @param answer what the server said
     * @return false if the answer says it all
     */
    public static boolean isOpen(List<String> args, List<Object> answer) {
        return FIND_ONCE.contains(args.get(0)) && answer.equals(List.of(0L));
    }

    /**
     * What such a call fails with.
     *
     * @return an error in words for a user
     */
    public static RuntimeException open() {
        return new IllegalStateException(RedisFailure.SENT_AGAIN);
    }

    private void add(List<String> callKeys, List<String> callArgs) {
        keys.addAll(callKeys);
        if (args.isEmpty()) {
            args.add("batch");
        }
        args.add(Integer.toString(callArgs.size() - 1));
        args.addAll(callArgs);
    }

    /**
     * The keys of all calls.
     *
     * @return what to run {@link RedisScript#lock()} with
     */
    public List<String> keys() {
        return keys;
    }

    /**
     * The arguments of the batch.
     *
     * @return what to run {@link RedisScript#lock()} with
     */
    public List<String> args() {
        return args;
    }
}
