package io.github.reactivelock.redis;

/** How locks are laid out in Redis. Immutable; every {@code with…} method returns a changed copy. */
public final class RedisLockOptions {

    private static final RedisLockOptions DEFAULTS = new RedisLockOptions("reactivelock");
    private static final String ALLOWED = "[A-Za-z0-9._-]{1,64}";

    private final String prefix;

    private RedisLockOptions(String prefix) {
        this.prefix = prefix;
    }

    /**
     * The prefix {@code reactivelock}.
     *
     * @return the defaults
     */
    public static RedisLockOptions defaults() {
        return DEFAULTS;
    }

    /**
     * What the names of all Redis keys and channels begin with; the keys have a brace before it.
     *
     * @return never empty
     */
    public String prefix() {
        return prefix;
    }

    /**
     * Keeps locks apart from those of another application on the same database. All processes that share a lock need
     * the same prefix.
     *
     * @param prefix 1 to 64 letters, digits, dots, underscores and hyphens
     * @return a copy with this prefix
     */
    public RedisLockOptions withPrefix(String prefix) {
        if (!prefix.matches(ALLOWED)) {
            throw new IllegalArgumentException("prefix must be 1 to 64 letters, digits, '.', '_' or '-' but is '"
                    + prefix + "'; a colon would let two prefixes name the same lock");
        }
        return new RedisLockOptions(prefix);
    }
}
