package io.github.reactivelock;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What the client's listener is told of a hold. There is none where there is no listener. */
final class HoldNews {

    private final HeardRequest heard;
    private final long fencingToken;
    /** As was told; touched inside the key's events. */
    private boolean atRisk;

    private HoldNews(HeardRequest heard, long fencingToken) {
        this.heard = heard;
        this.fencingToken = fencingToken;
    }

    static @Nullable HoldNews of(@Nullable HeardRequest heard, long fencingToken) {
        return heard == null ? null : new HoldNews(heard, fencingToken);
    }

    /** Whether there is something to tell; on any thread, so the next look may find it otherwise. */
    boolean isDue(Grant grant) {
        return grant.state() instanceof HoldState.AtRisk != atRisk;
    }

    /** Tells if the hold has come to be at risk, or is safe again. */
    void look(Grant grant) {
        HoldState now = grant.state();
        if (now instanceof HoldState.AtRisk != atRisk) {
            atRisk = !atRisk;
            changed(now);
        }
    }

    void renewalFailed(Grant grant, Throwable cause) {
        heard.renewalFailed(fencingToken, cause);
        look(grant);
    }

    void changed(HoldState now) {
        heard.changed(fencingToken, now);
    }

    void released(Duration held) {
        heard.released(fencingToken, held);
    }

    void releaseFailed(LockUnavailableException failure) {
        heard.releaseFailed(failure);
    }
}
