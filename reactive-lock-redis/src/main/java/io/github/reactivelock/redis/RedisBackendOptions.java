package io.github.reactivelock.redis;

import java.time.Duration;

/** How locks are kept in Redis. Immutable; every {@code with…} method returns a changed copy. */
public final class RedisBackendOptions {

    private static final RedisBackendOptions DEFAULTS =
            new RedisBackendOptions("reactivelock", 0, Duration.ZERO, false);
    private static final String ALLOWED = "[A-Za-z0-9._:-]{1,64}";

    private static final Duration LONGEST_WAIT = Duration.ofSeconds(10);

    private final String prefix;
    private final int replicas;
    private final Duration replicaTimeout;
    private final boolean shardedChannels;

    private RedisBackendOptions(String prefix, int replicas, Duration replicaTimeout, boolean shardedChannels) {
        this.prefix = prefix;
        this.replicas = replicas;
        this.replicaTimeout = replicaTimeout;
        this.shardedChannels = shardedChannels;
    }

    /**
     * The prefix {@code reactivelock}, and no waiting for replicas.
     *
     * @return the defaults
     */
    public static RedisBackendOptions defaults() {
        return DEFAULTS;
    }

    /**
     * What the names of all Redis keys and channels begin with; unless it has a colon, the keys have a brace before it.
     *
     * @return never empty
     */
    public String prefix() {
        return prefix;
    }

    /**
     * Keeps locks apart from those of another application on the same database. All processes that share a lock need
     * the same prefix. Keys are named {@code {prefix:KEY}}. A prefix with a colon in it stands before the brace as it
     * is: with {@code orders:locks:} all keys and channels begin so, for a Redis user that may use {@code ~orders:*}
     * and {@code &orders:*} only. Then the tokens of {@link RedisLockBackend#fencingGuard} begin so too, and all who
     * guard one key need the same prefix.
     *
     * @param prefix 1 to 64 letters, digits, dots, underscores, hyphens and colons
     * @return a copy with this prefix
     */
    public RedisBackendOptions withPrefix(String prefix) {
        if (!prefix.matches(ALLOWED)) {
            throw new IllegalArgumentException(
                    "prefix must be 1 to 64 letters, digits, '.', '_', '-' or ':' but is '" + prefix + "'");
        }
        return new RedisBackendOptions(prefix, replicas, replicaTimeout, shardedChannels);
    }

    /**
     * How many replicas have to acknowledge.
     *
     * @return 0 if none is waited for
     */
    public int replicas() {
        return replicas;
    }

    /**
     * How long they are waited for.
     *
     * @return zero if none is waited for
     */
    public Duration replicaTimeout() {
        return replicaTimeout;
    }

    /**
     * Lets a grant, and a renewal, count only when replicas have acknowledged it ({@code WAIT}), so that a fail-over to
     * one of them does not forget it. A grant that is not acknowledged in time is given back: an acquisition that is
     * not waiting fails with {@code LockUnavailableException}, one that waits asks again for up to its lease. A hold
     * whose renewals are not acknowledged is lost at its deadline. Costs a second round trip, shared by all that wait.
     * Not for clusters, and only through client libraries that can.
     *
     * @param replicas at least 1; to survive any fail-over, as many as there are
     * @param timeout 1 millisecond to 10 seconds, and less than a third of the leases
     * @return a copy that waits
     */
    public RedisBackendOptions withReplicas(int replicas, Duration timeout) {
        if (replicas < 1) {
            throw new IllegalArgumentException("replicas must be at least 1 but is " + replicas);
        }
        if (timeout.toMillis() < 1 || timeout.compareTo(LONGEST_WAIT) > 0) {
            throw new IllegalArgumentException(
                    "the timeout of replicas must be 1 millisecond to 10 seconds but is " + timeout);
        }
        return new RedisBackendOptions(prefix, replicas, timeout, shardedChannels);
    }

    /**
     * Whether a cluster's messages stay in the shard of their lock.
     *
     * @return false by default
     */
    public boolean hasShardedChannels() {
        return shardedChannels;
    }

    /**
     * Keeps a cluster's messages in the shard of their lock (sharded channels, Redis 7), instead of having them passed
     * on to every node: for clusters of many nodes. In return a wait costs a subscription and a second question, and a
     * hold that never waited notices a forced release only when it is renewed, so no lock is kept by
     * {@code withRetention}. All processes that share a lock have to
     * agree; those that do not are served late.
     *
     * @return a copy with sharded channels
     */
    public RedisBackendOptions withShardedChannels() {
        return new RedisBackendOptions(prefix, replicas, replicaTimeout, true);
    }
}
