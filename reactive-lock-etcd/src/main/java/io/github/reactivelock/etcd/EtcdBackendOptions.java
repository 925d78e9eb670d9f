package io.github.reactivelock.etcd;

import java.time.Duration;

/** How locks are laid out in etcd and how long a command may take. Immutable; every {@code with…} returns a copy. */
public final class EtcdBackendOptions {

    private static final Duration SHORTEST_TIMEOUT = Duration.ofMillis(10);
    private static final String ALLOWED = "[A-Za-z0-9._-]{1,64}";
    private static final EtcdBackendOptions DEFAULTS = new EtcdBackendOptions("reactivelock", Duration.ofMillis(1_800));

    private final String prefix;
    private final Duration commandTimeout;

    private EtcdBackendOptions(String prefix, Duration commandTimeout) {
        this.prefix = prefix;
        this.commandTimeout = commandTimeout;
    }

    /**
     * The prefix {@code reactivelock} and a command timeout of 1.8 seconds, just under that of a lock client.
     *
     * @return the defaults
     */
    public static EtcdBackendOptions defaults() {
        return DEFAULTS;
    }

    /**
     * What the names of all etcd keys begin with, a slash after it. A user of etcd needs read and write permission for
     * the keys with this prefix and no other.
     *
     * @return never empty
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
     * Keeps locks apart from those of another application in the same etcd. All processes that share a lock need the
     * same prefix.
     *
     * @param prefix 1 to 64 letters, digits, dots, underscores and hyphens
     * @return a copy with this prefix
     */
    public EtcdBackendOptions withPrefix(String prefix) {
        if (!prefix.matches(ALLOWED)) {
            throw new IllegalArgumentException("prefix must be 1 to 64 letters, digits, '.', '_' or '-' but is '"
                    + prefix + "'; a slash would let two prefixes name the same lock");
        }
        return new EtcdBackendOptions(prefix, commandTimeout);
    }

    /**
     * Changes how long a command may take. Keep it shorter than the command timeout of the lock client, whose message
     * can only say that there was no answer. Longer than an election of your etcd takes, it hides a change of leader.
     *
     * @param commandTimeout at least 10 milliseconds
     * @return a copy with this timeout
     */
    public EtcdBackendOptions withCommandTimeout(Duration commandTimeout) {
        if (commandTimeout.compareTo(SHORTEST_TIMEOUT) < 0) {
            throw new IllegalArgumentException("commandTimeout must be at least 10 ms but is " + commandTimeout);
        }
        return new EtcdBackendOptions(prefix, commandTimeout);
    }
}
