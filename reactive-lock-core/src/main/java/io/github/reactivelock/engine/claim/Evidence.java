package io.github.reactivelock.engine.claim;

import io.github.reactivelock.spi.Signal;
import org.jspecify.annotations.Nullable;

/**
 * What the answers and pushes that were heard about one claim prove of its grants. They may come in another order than
 * they were sent in, and none but an answer says of when it is. Touched only inside the claim's key's events.
 */
final class Evidence {

    private int questions;
    /**
     * The latest moment at which the claim is known not to have been granted yet: when a question was sent that the
     * store answered with "queued", or before that, when the first question was sent. A pushed grant is younger.
     */
    private long ungrantedAt;
    /**
     * Grants of this claim with this token or a lower one were over when it arrived, even if news of them is still on
     * its way: the highest token that came with an answer "queued", or one less than that of a grant.
     */
    private long newestToken;
    /** How many questions had been asked by then; an answer to a later one is younger. */
    private int questionsThen;
    /** Token of the last pushed grant we accepted. */
    private long pushedToken;
    /** That the claim was probably lost, and how many questions had been asked by then. */
    private Signal.@Nullable Suspect suspicion;

    private int questionsBefore;

    Evidence(long now) {
        this.ungrantedAt = now;
    }

    /** The number of the last question, from 1; 0 if none was asked. */
    int questions() {
        return questions;
    }

    boolean isAsked() {
        return questions > 0;
    }

    long ungrantedAt() {
        return ungrantedAt;
    }

    /** A question leaves; its number. */
    int asked(long sentAt) {
        questions++;
        if (questions == 1) {
            ungrantedAt = sentAt;
        }
        return questions;
    }

    /**
     * Whether a pushed grant may be used, from {@link #ungrantedAt} on. A push does not say how old it is:
     * {@code models/Grant.tla: NewestToken}.
     */
    boolean pushed(long fencingToken) {
        if (fencingToken <= newestToken) {
            return false;
        }
        pushedToken = fencingToken;
        heard(fencingToken);
        return true;
    }

    /**
     * Whether an answer "granted" may be used. It may be older than one that was heard before it,
     * {@code models/Grant.tla: OldNews}.
     */
    boolean granted(int question, long fencingToken) {
        boolean isOldNews = question <= questionsThen && fencingToken <= newestToken;
        heard(fencingToken);
        return !isOldNews;
    }

    /**
     * A grant with a higher token is younger, even a grant that is not used: {@code models/Grant.tla: LowerIsOlder}.
     */
    private void heard(long fencingToken) {
        if (fencingToken - 1 > newestToken) {
            newestToken = fencingToken - 1;
            questionsThen = questions;
        }
    }

    boolean isPushed() {
        return pushedToken != 0;
    }

    void queued(long sentAt, long newestTokenThen) {
        newestToken = Math.max(newestToken, newestTokenThen);
        questionsThen = questions;
        if (sentAt - ungrantedAt > 0) {
            ungrantedAt = sentAt;
        }
    }

    /** A loss was pushed. It says nothing of grants that the store gives from then on. */
    void suspected(Signal.Suspect suspect) {
        suspicion = suspect;
        questionsBefore = questions;
    }

    /** What may have ended the grant that is the answer to this question, before it was heard. */
    Signal.@Nullable Suspect suspicionOf(int question) {
        return question <= questionsBefore ? suspicion : null;
    }

    /**
     * Whether an answer "queued" speaks of a place that there may still be; else that one was served before it was
     * heard.
     */
    boolean mayBeQueued(long newestTokenThen) {
        return pushedToken == 0 || questions > 1 || newestTokenThen >= pushedToken;
    }
}
