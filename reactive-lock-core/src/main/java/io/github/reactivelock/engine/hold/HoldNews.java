package io.github.reactivelock.engine.hold;

import io.github.reactivelock.HoldState;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.engine.claim.Grant;
import io.github.reactivelock.engine.time.Timing;
import io.github.reactivelock.engine.user.HeardRequest;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** News of a hold, for the client's listener and for subscribers of its states. */
final class HoldNews {

    /** For a hold without either. */
    static final HoldNews NONE = new HoldNews(null, 0);

    private final @Nullable HeardRequest heard;
    private final long fencingToken;
    /** The state last reported; touched inside the key's events. */
    private boolean atRisk;
    /** None until they are asked for; set inside the key's events. */
    private @Nullable HoldStates states;

    private HoldNews(@Nullable HeardRequest heard, long fencingToken) {
        this.heard = heard;
        this.fencingToken = fencingToken;
    }

    /** For the hold that a request got, where the client has a listener. */
    static HoldNews of(HeardRequest heard, long fencingToken, LongSupplier remainingNanos) {
        heard.got(remainingNanos);
        return new HoldNews(heard, fencingToken);
    }

    /** The news of a hold with one more who asks for its states. */
    HoldNews watched(HoldStates.Watcher watcher, Grant grant) {
        HoldNews told = this == NONE ? new HoldNews(null, 0) : this;
        told.look(grant);
        HoldStates heardOf = told.states == null ? new HoldStates(grant, grant.state()) : told.states;
        told.states = heardOf;
        heardOf.add(watcher);
        return told;
    }

    /**
     * As {@code Phase.quietUntil}: half a lease without a confirmation is a risk, and the end of a risk is to be
     * reported soon.
     */
    long quietUntil(long now, long quiet, Grant grant) {
        long risk = grant.riskAt();
        return atRisk ? now : this == NONE || quiet - risk < 0 ? quiet : risk;
    }

    /** Tells if the hold has come to be at risk, or is safe again. */
    void look(Grant grant) {
        @Nullable HoldState now = this == NONE ? null : grant.state();
        if (now != null && now instanceof HoldState.AtRisk != atRisk) {
            atRisk = !atRisk;
            changed(now);
        }
    }

    void renewalFailed(Grant grant, Throwable cause) {
        if (heard != null) {
            heard.renewalFailed(fencingToken, cause);
        }
        look(grant);
    }

    void changed(HoldState now) {
        if (heard != null) {
            heard.changed(fencingToken, now);
        }
        if (states != null) {
            states.tell(now);
        }
    }

    void released(Timing timing, long heldSince) {
        if (heard != null) {
            heard.released(fencingToken, timing.since(heldSince));
        }
        complete();
    }

    void releaseFailed(LockUnavailableException failure) {
        if (heard != null) {
            heard.releaseFailed(failure);
        }
        complete();
    }

    private void complete() {
        if (states != null) {
            states.complete();
        }
    }
}
