package io.github.reactivelock.engine.claim;

import io.github.reactivelock.LockOptions;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.LockBackend;
import java.time.Duration;

/** What {@link LockOptions} mean for a claim: which one they ask the store for, and whether it serves another flow. */
public final class ClaimOptions {

    private ClaimOptions() {}

    /**
     * The claim to ask the store for; a lock that is not renewed stays taken for the lease and then for the delay. One
     * that is not kept asks nothing more of the store (rule 10 of {@code docs/design/retention.md}).
     *
     * @param keeping {@link #keeping}, or that it may be kept, so that the store is to call it back
     */
    public static Claim claim(
            LockOptions options, String key, String id, String owner, Claim.Mode mode, Claim.Keeping keeping) {
        return new Claim(key, id, owner, leaseAtTheStore(options), mode, keeping, options.share());
    }

    /** How long a claim stays that is not to be kept. */
    public static Claim.Keeping keeping(LockOptions options) {
        return options.isRenewed() ? Claim.Keeping.RENEWED : Claim.Keeping.ONCE;
    }

    /** Whether a claim, of whose lease so much is not relied upon, is what these options ask for. */
    public static boolean suit(LockOptions wanted, Claim claim, Duration delay) {
        return delay.equals(delay(wanted))
                && leaseAtTheStore(wanted).equals(claim.lease())
                && wanted.isRenewed() == (claim.keeping() != Claim.Keeping.ONCE)
                && wanted.share().equals(claim.share());
    }

    /** Whether one claim serves both. */
    public static boolean suit(LockOptions one, LockOptions other) {
        return delay(one).equals(delay(other))
                && one.lease().equals(other.lease())
                && one.isRenewed() == other.isRenewed()
                && one.share().equals(other.share());
    }

    /** By how much the lease at the store is longer than what a holder relies upon. */
    public static Duration delay(LockOptions options) {
        return options.lockDelay().orElse(Duration.ZERO);
    }

    /** Refuses what the store cannot do. */
    public static LockOptions supported(LockBackend backend, LockOptions options) {
        if (options.retention().isPresent() && !backend.supportsRecall()) {
            throw new UnsupportedOperationException(backend.getClass().getSimpleName()
                    + " cannot call a lock back that is kept; leave withRetention out, or use another store");
        }
        return options;
    }

    private static Duration leaseAtTheStore(LockOptions options) {
        return options.lease().plus(delay(options));
    }
}
