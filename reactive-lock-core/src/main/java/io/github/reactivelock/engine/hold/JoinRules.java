package io.github.reactivelock.engine.hold;

import io.github.reactivelock.LockOptions;
import io.github.reactivelock.engine.claim.ClaimOptions;
import io.github.reactivelock.state.Share;
import java.time.Duration;

/** What an acquisition may want of the hold that its own flow is under already. */
final class JoinRules {

    private JoinRules() {}

    /** Refuses what the hold cannot give: it would wait for itself, or end before it may. */
    static void check(String key, LockOptions held, LockOptions wanted) {
        Share has = held.share();
        Share asked = wanted.share();
        if (!has.covers(asked)) {
            throw new IllegalStateException("lock '" + key + "' is held as " + has.text()
                    + " by this flow already; asked for as " + asked.text()
                    + " it would wait for itself: ask for " + asked.text() + " first, or release before asking");
        }
        if (wanted.isRenewed() && !held.isRenewed()) {
            throw new IllegalArgumentException("lock '" + key
                    + "' is held withoutRenewal() by this flow already, so a renewed acquisition cannot join that hold;"
                    + " ask for this one withoutRenewal() too, or renew the outer one");
        }
        Duration delay = ClaimOptions.delay(held);
        Duration wantedDelay = ClaimOptions.delay(wanted);
        if (wantedDelay.compareTo(delay) > 0) {
            throw new IllegalArgumentException("lock '" + key + "' is held by this flow already, with a lockDelay of "
                    + delay + ", so an acquisition with one of " + wantedDelay
                    + " cannot join that hold; ask for as much outside");
        }
    }
}
