package io.github.reactivelock.redis;

import java.time.Duration;
import java.util.List;
import reactor.core.publisher.Mono;

/**
 * What the lock protocol needs of a Redis client: one way to run a script and one receiver of messages. An
 * implementation opens nothing before the first {@link #eval} is subscribed or the first channel asked for, shares what
 * it opened, and comes back by itself after an interruption, its channels included.
 */
public interface RedisConnection {

    /**
     * The number of the database that scripts run in; channels carry it, because Redis shares them among databases.
     *
     * @return a number from zero
     */
    int database();

    /**
     * Refuses a number of a database in the address of a cluster, which has but one. Valkey 9 has several, but its
     * clients that know slots ignore the number, and two users who believe that they are apart would share their locks.
     *
     * @param database what the address says, zero if it says nothing
     * @param server as {@link #server()}
     * @throws IllegalArgumentException if it is not zero
     */
    static void requireNoDatabase(int database, String server) {
        if (database != 0) {
            throw new IllegalArgumentException("the address of the " + server + " names database " + database
                    + ", and locks on a cluster are in database 0 only: leave the number out, and keep users of one cluster"
                    + " apart with RedisBackendOptions.withPrefix");
        }
    }

    /**
     * A name of the server for error messages, without any secret.
     *
     * @return usually host and port
     */
    String server();

    /**
     * As {@link #server()}, where it is about one key: a cluster names the node that has the key's slot, as far as that
     * is known now. Asked for an error's message, so it only looks.
     *
     * @param key a key as it is named in Redis
     * @return {@link #server()} unless overridden
     */
    default String server(String key) {
        return server();
    }

    /**
     * The server's user of this connection, which an error about permissions names.
     *
     * @return the name of a user of the server, {@code default} for one who gives none; empty if that is not known, as
     *     it is unless overridden
     */
    default String user() {
        return "";
    }

    /**
     * The part of the store that a key lives in. The keys of one {@link #eval} are always of one part.
     *
     * @param key a key as it is named in Redis
     * @return a cluster's slot; 0 for every key unless overridden, for a server that has but one part
     */
    default int slot(String key) {
        return 0;
    }

    /**
     * Whether what is asked now is sent now.
     *
     * @return false while there is no connection; always true unless overridden
     */
    default boolean isReady() {
        return true;
    }

    /**
     * Whether there was a connection at some time, so that its address and its credentials were right then.
     *
     * @return false unless overridden
     */
    default boolean wasReady() {
        return false;
    }

    /**
     * Opens the connection for commands, or waits for the one that is being opened again.
     *
     * @return completes when {@link #isReady} is true; fails if it cannot be opened, or cannot be opened again because
     *     of a refusal that {@linkplain RedisRefusal#LASTS lasts}
     */
    default Mono<Void> ready() {
        return Mono.empty();
    }

    /**
     * Runs a script by its digest, and by its body where the server does not know it. Cold. Commands leave in the order
     * of subscription without awaiting each other's answers. Cancelling only forgets the answer: a command that was
     * subscribed is sent, since what comes behind it may depend on it. Calls that are about to leave together may be
     * joined to a {@link RedisBatch}. A call that was sent more than once fails where its answer
     * {@linkplain RedisBatch#isOpen leaves open} what it did.
     *
     * @param script what to run
     * @param keys the keys it touches; on a cluster they share a slot
     * @param args its arguments
     * @return the array that the script answers with, of {@code Long}, {@code String} and nested lists; never empty. A
     *     number is an array of one.
     */
    Mono<List<Object>> eval(RedisScript script, List<String> keys, List<String> args);

    /**
     * Runs a script as {@link #eval} and then waits for replicas, on a connection of its own, so that nothing else is
     * held up. If that connection was interrupted in between, the answer is an error, because it may be another
     * server's. Called again only after the answer.
     *
     * @param script what to run
     * @param keys the keys it touches
     * @param args its arguments
     * @param replicas how many to wait for
     * @param timeout how long to wait for them
     * @return the array that the script answers with, followed by the number of replicas that have what it wrote
     */
    default Mono<List<Object>> evalAndWait(
            RedisScript script, List<String> keys, List<String> args, int replicas, Duration timeout) {
        return Mono.error(() -> new UnsupportedOperationException("this connection cannot wait for replicas"));
    }

    /**
     * Whether {@link #evalAndWait} works.
     *
     * @return false unless overridden
     */
    default boolean waitsForReplicas() {
        return false;
    }

    /**
     * Whether channels are those of a shard, which only its nodes pass on ({@code SSUBSCRIBE}).
     *
     * @return false unless overridden
     */
    default boolean hasShardedChannels() {
        return false;
    }

    /**
     * Whether the server that runs the scripts of a lock also has the connections of those who listen to its channels,
     * so that it can tell that there is none. Not so in a cluster, whose nodes pass messages on.
     *
     * @return false unless overridden
     */
    default boolean knowsListeners() {
        return false;
    }

    /**
     * Sets the one receiver of everything that arrives on channels. Called once, before any {@link #subscribe}.
     *
     * @param listener called on any thread, which it never blocks
     */
    void listen(RedisListener listener);

    /**
     * Asks for a channel; the listener gets the outcome. Asking again for a channel is confirmed again.
     *
     * @param channel the channel's full name
     */
    void subscribe(String channel);

    /**
     * Opens the connection of a channel anew, and asks again for the channels that came on it: the server has no
     * subscriber there, though nothing says here that the connection has ended. Does nothing while it is being opened.
     *
     * @param channel the channel's full name
     */
    default void reopen(String channel) {}

    /**
     * Asks for no more messages of a channel. Never fails; calls take effect in their order with {@link #subscribe}.
     *
     * @param channel the channel's full name
     */
    void unsubscribe(String channel);

    /**
     * Closes what this connection opened itself, and nothing that it was given. Cold, idempotent, bounded in time.
     *
     * @return completes when nothing of it is left
     */
    Mono<Void> close();
}
