package io.github.reactivelock.consul;

import java.time.Duration;
import java.util.List;

/**
 * How locks are laid out in Consul, how long a command may take, and how the session is made. Immutable; every
 * {@code with…} returns a copy.
 */
public final class ConsulBackendOptions {

    /** Consul makes no session with a shorter one. */
    static final Duration SHORTEST_SESSION = Duration.ofSeconds(10);

    private static final Duration LONGEST_SESSION = Duration.ofHours(24);
    private static final Duration SHORTEST_TIMEOUT = Duration.ofMillis(10);
    private static final String ALLOWED = "[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*";
    private static final int LONGEST_PREFIX = 128;
    private static final ConsulBackendOptions DEFAULTS = new ConsulBackendOptions(
            "reactivelock", Duration.ofMillis(1_600), Duration.ofSeconds(15), SHORTEST_SESSION, "", List.of());

    private final String prefix;
    private final Duration commandTimeout;
    private final Duration sessionTtl;
    private final Duration shortestLease;
    private final String token;
    private final List<String> checks;

    private ConsulBackendOptions(
            String prefix,
            Duration commandTimeout,
            Duration sessionTtl,
            Duration shortestLease,
            String token,
            List<String> checks) {
        this.prefix = prefix;
        this.commandTimeout = commandTimeout;
        this.sessionTtl = sessionTtl;
        this.shortestLease = shortestLease;
        this.token = token;
        this.checks = List.copyOf(checks);
    }

    /**
     * The prefix {@code reactivelock}, a command timeout of 1.6 seconds, under that of a lock client, a session of 15
     * seconds that depends on no check, and no token.
     *
     * @return the defaults
     */
    public static ConsulBackendOptions defaults() {
        return DEFAULTS;
    }

    /**
     * The folder in which all locks are.
     *
     * @return names with slashes between
     */
    public String prefix() {
        return prefix;
    }

    /**
     * How long a command may take, its repetitions at other agents included, until it fails with a message that says
     * why.
     *
     * @return a positive time
     */
    public Duration commandTimeout() {
        return commandTimeout;
    }

    /**
     * How long Consul keeps the locks of a client that is silent, at least; it takes up to twice that time.
     *
     * @return 10 seconds to 24 hours
     */
    public Duration sessionTtl() {
        return sessionTtl;
    }

    /**
     * The health checks that end the session when they fail.
     *
     * @return names of checks of the agent's node; empty by default
     */
    public List<String> checks() {
        return checks;
    }

    /** What a lease must be at least. */
    Duration shortestLease() {
        return shortestLease;
    }

    /** The secret id of an ACL token, or empty. */
    String token() {
        return token;
    }

    /**
     * Keeps locks apart from those of another application in the same Consul. All processes that share a lock need the
     * same prefix.
     *
     * @param prefix up to 128 letters, digits, dots, underscores, hyphens and slashes; no part is empty or begins with
     *     a dot
     * @return a copy with this prefix
     */
    public ConsulBackendOptions withPrefix(String prefix) {
        if (!prefix.matches(ALLOWED) || prefix.length() > LONGEST_PREFIX) {
            throw new IllegalArgumentException("prefix must be 1 to 128 letters, digits, '.', '_', '-' or '/', with no"
                    + " part that is empty or begins with a dot, but is '" + prefix + "'");
        }
        return new ConsulBackendOptions(prefix, commandTimeout, sessionTtl, shortestLease, token, checks);
    }

    /**
     * Changes how long a command may take. Keep it shorter than the command timeout of the lock client, whose message
     * can only say that there was no answer.
     *
     * @param commandTimeout at least 10 milliseconds
     * @return a copy with this timeout
     */
    public ConsulBackendOptions withCommandTimeout(Duration commandTimeout) {
        if (commandTimeout.compareTo(SHORTEST_TIMEOUT) < 0) {
            throw new IllegalArgumentException("commandTimeout must be at least 10 ms but is " + commandTimeout);
        }
        return new ConsulBackendOptions(prefix, commandTimeout, sessionTtl, shortestLease, token, checks);
    }

    /**
     * Changes how long Consul keeps the session of a client that is silent. A hold outlives a silence of this time. The
     * locks of a client that dies are free after one to two times this time.
     *
     * @param sessionTtl 10 seconds to 24 hours, which are Consul's own limits
     * @return a copy with this time
     */
    public ConsulBackendOptions withSessionTtl(Duration sessionTtl) {
        if (sessionTtl.compareTo(SHORTEST_SESSION) < 0 || sessionTtl.compareTo(LONGEST_SESSION) > 0) {
            throw new IllegalArgumentException("sessionTtl must be 10 s to 24 h but is " + sessionTtl);
        }
        return new ConsulBackendOptions(prefix, commandTimeout, sessionTtl, shortestLease, token, checks);
    }

    /**
     * Sends an ACL token with every command. It needs {@code key_prefix "PREFIX/" { policy = "write" }},
     * {@code node "reactive-lock" { policy = "write" }} and {@code session "reactive-lock" { policy = "write" }}; with
     * checks, {@code session_prefix "" { policy = "write" }} instead of the last two.
     *
     * @param secretId the token's secret, which is never shown
     * @return a copy with this token
     */
    public ConsulBackendOptions withToken(String secretId) {
        return new ConsulBackendOptions(prefix, commandTimeout, sessionTtl, shortestLease, secretId, checks);
    }

    /**
     * Ends the session, and with it all locks of this client, when one of these checks fails: {@code serfHealth} for
     * example, which fails some seconds after the agent died through which the session was made. Without a check the
     * session lives for as long as the client does, also when that agent ends. With one, a client that is cut off
     * together with that agent may believe for up to the session's TTL that it has a lock which another has by then.
     *
     * @param names checks of the agent's node
     * @return a copy with these checks and no others
     */
    public ConsulBackendOptions withChecks(String... names) {
        return new ConsulBackendOptions(prefix, commandTimeout, sessionTtl, shortestLease, token, List.of(names));
    }

    /** For tests, which would wait long otherwise: leases are this client's own business while it lives. */
    ConsulBackendOptions withShortestLease(Duration shortest) {
        return new ConsulBackendOptions(prefix, commandTimeout, sessionTtl, shortest, token, checks);
    }
}
