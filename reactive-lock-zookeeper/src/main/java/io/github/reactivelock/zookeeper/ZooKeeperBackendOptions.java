package io.github.reactivelock.zookeeper;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How locks are laid out in ZooKeeper, how long a command may take, and how to connect. Immutable; every
 * {@code with…} returns a copy.
 */
public final class ZooKeeperBackendOptions {

    private static final Duration SHORTEST_TIMEOUT = Duration.ofMillis(10);
    private static final Duration SHORTEST_SESSION = Duration.ofSeconds(1);
    private static final Duration LONGEST_SESSION = Duration.ofHours(1);
    private static final String ALLOWED = "[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}";
    private static final ZooKeeperBackendOptions DEFAULTS =
            new ZooKeeperBackendOptions("reactivelock", Duration.ofMillis(1_600), Duration.ofSeconds(20), null);

    private final String prefix;
    private final Duration commandTimeout;
    private final Duration sessionTimeout;
    private final @Nullable String digest;

    private ZooKeeperBackendOptions(
            String prefix, Duration commandTimeout, Duration sessionTimeout, @Nullable String digest) {
        this.prefix = prefix;
        this.commandTimeout = commandTimeout;
        this.sessionTimeout = sessionTimeout;
        this.digest = digest;
    }

    /**
     * The prefix {@code reactivelock}, a command timeout of 1.6 seconds, under that of a lock client by the time it
     * takes to find out what is wrong, a session timeout of 20 seconds, and no user.
     *
     * @return the defaults
     */
    public static ZooKeeperBackendOptions defaults() {
        return DEFAULTS;
    }

    /**
     * The node below which all locks are.
     *
     * @return a name without slashes
     */
    public String prefix() {
        return prefix;
    }

    /**
     * How long a command may take, its repetitions included, until it fails with a message that says why.
     *
     * @return a positive time
     */
    public Duration commandTimeout() {
        return commandTimeout;
    }

    /**
     * How long the servers keep the locks of a client that is silent, if they agree: they bound it, by default to 2 to
     * 20 of their ticks.
     *
     * @return a positive time
     */
    public Duration sessionTimeout() {
        return sessionTimeout;
    }

    /** User and password with a colon between, or null. */
    @Nullable
    String digest() {
        return digest;
    }

    /**
     * Keeps locks apart from those of another application in the same ZooKeeper. All processes that share a lock need
     * the same prefix.
     *
     * @param prefix 1 to 64 letters, digits, dots, underscores and hyphens, no dot in front
     * @return a copy with this prefix
     */
    public ZooKeeperBackendOptions withPrefix(String prefix) {
        if (!prefix.matches(ALLOWED)) {
            throw new IllegalArgumentException("prefix must be 1 to 64 letters, digits, '.', '_' or '-', no dot in"
                    + " front, but is '" + prefix + "'");
        }
        return new ZooKeeperBackendOptions(prefix, commandTimeout, sessionTimeout, digest);
    }

    /**
     * Changes how long a command may take. Afterwards the servers are asked for a tenth of that time why they did not
     * answer. Keep both together shorter than the command timeout of the lock client, whose message can only say that
     * there was no answer.
     *
     * @param commandTimeout at least 10 milliseconds
     * @return a copy with this timeout
     */
    public ZooKeeperBackendOptions withCommandTimeout(Duration commandTimeout) {
        if (commandTimeout.compareTo(SHORTEST_TIMEOUT) < 0) {
            throw new IllegalArgumentException("commandTimeout must be at least 10 ms but is " + commandTimeout);
        }
        return new ZooKeeperBackendOptions(prefix, commandTimeout, sessionTimeout, digest);
    }

    /**
     * Changes the session timeout that {@code connect} asks for; a client handed in has its own. The locks of a client
     * that dies are free after this time, and a hold outlives a silence of half of it.
     *
     * @param sessionTimeout one second to one hour
     * @return a copy with this timeout
     */
    public ZooKeeperBackendOptions withSessionTimeout(Duration sessionTimeout) {
        if (sessionTimeout.compareTo(SHORTEST_SESSION) < 0 || sessionTimeout.compareTo(LONGEST_SESSION) > 0) {
            throw new IllegalArgumentException("sessionTimeout must be 1 s to 1 h but is " + sessionTimeout);
        }
        return new ZooKeeperBackendOptions(prefix, commandTimeout, sessionTimeout, digest);
    }

    /**
     * Logs in with ZooKeeper's {@code digest} scheme when {@code connect} opens a connection. All nodes are then made
     * for this user alone, so every process that shares a lock needs the same user.
     *
     * @param user without a colon
     * @param password never shown
     * @return a copy with this user
     */
    public ZooKeeperBackendOptions withDigest(String user, String password) {
        if (user.isEmpty() || user.indexOf(':') >= 0) {
            throw new IllegalArgumentException("a digest user must not be empty or hold a colon but is '" + user + "'");
        }
        return new ZooKeeperBackendOptions(prefix, commandTimeout, sessionTimeout, user + ":" + password);
    }
}
