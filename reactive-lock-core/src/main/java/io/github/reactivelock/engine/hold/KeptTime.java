package io.github.reactivelock.engine.hold;

import io.github.reactivelock.LockOptions;
import io.github.reactivelock.engine.claim.ClaimOptions;
import io.github.reactivelock.engine.time.Timing;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * Until when a lock stays taken at the store although its hold is over: for the rest of its minimum
 * ({@link LockOptions#withMinHold}), or after a loss for its delay ({@link LockOptions#withLockDelay}).
 */
public final class KeptTime {

    private static final AtomicLongFieldUpdater<Hold> LEAST =
            AtomicLongFieldUpdater.newUpdater(Hold.class, "leastHold");

    private KeptTime() {}

    /** A flow that asked with these options goes on under the hold, which no flow did that gave up before. */
    public static void use(Hold hold, LockOptions wanted) {
        long least = wanted.minHold().orElse(Duration.ZERO).toNanos();
        if (least > 0) {
            long unused =
                    LEAST.accumulateAndGet(hold, hold.grant.services.timing.now() - hold.since + least, Math::max);
        }
    }

    /**
     * The moment until which the lock stays taken after a hold that ends now, by its release or by a loss;
     * {@link Timing#NEVER} if the lock is free at once.
     */
    public static long until(Hold ended, @Nullable LossReason loss) {
        long least = isEndedHere(loss) ? ended.leastHold : 0;
        long delay = isGivenUp(loss) ? 0 : ClaimOptions.delay(ended.options).toNanos();
        if (least == 0 && delay == 0) {
            return Timing.NEVER;
        }
        long now = ended.grant.services.timing.now();
        long stays = Math.max(least - (now - ended.since), delay);
        return stays > 0 ? now + stays : Timing.NEVER;
    }

    /** Its work is done, or has been cancelled in order. */
    private static boolean isGivenUp(@Nullable LossReason loss) {
        return loss == null || loss == LossReason.CLIENT_CLOSED;
    }

    /** Rather than by the store, for which the lock has another owner then, or is about to have one. */
    private static boolean isEndedHere(@Nullable LossReason loss) {
        return isGivenUp(loss) || loss == LossReason.HELD_TOO_LONG;
    }
}
