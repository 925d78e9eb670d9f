package io.github.reactivelock;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What the client's listener is told of a hold; nothing where there is none. */
final class HoldNews {

    /** Where there is no listener. */
    static final HoldNews NONE = new HoldNews(null, 0);

    private final @Nullable HeardRequest heard;
    private final long fencingToken;
    /** As was told; touched inside the key's events. */
    private boolean atRisk;

    private HoldNews(@Nullable HeardRequest heard, long fencingToken) {
        this.heard = heard;
        this.fencingToken = fencingToken;
    }

    static HoldNews of(@Nullable HeardRequest heard, Hold hold) {
        if (heard == null) {
            return NONE;
        }
        heard.got(hold);
        return new HoldNews(heard, hold.fencingToken);
    }

    /** As {@link Phase#quietUntil}: half a lease without a confirmation is a risk, and its end is to be told soon. */
    long quietUntil(long now, long quiet, Grant grant) {
        long risk = grant.riskAt();
        return atRisk ? now : heard == null || quiet - risk < 0 ? quiet : risk;
    }

    /** Tells if the hold has come to be at risk, or is safe again. */
    void look(Grant grant) {
        @Nullable HoldState now = heard == null ? null : grant.state();
        if (now != null && now instanceof HoldState.AtRisk != atRisk) {
            atRisk = !atRisk;
            changed(now);
        }
    }

    void renewalFailed(Grant grant, Throwable cause) {
        if (heard != null) {
            heard.renewalFailed(fencingToken, cause);
            look(grant);
        }
    }

    void changed(HoldState now) {
        if (heard != null) {
            heard.changed(fencingToken, now);
        }
    }

    void released(Duration held) {
        if (heard != null) {
            heard.released(fencingToken, held);
        }
    }

    void releaseFailed(LockUnavailableException failure) {
        if (heard != null) {
            heard.releaseFailed(failure);
        }
    }
}
