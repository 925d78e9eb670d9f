package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LossReason;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Claims that can be called back. In the tables their ids end with a mark, which every statement passes on as a part of
 * the id. An answer that names the owner shows it, and no statement is another one for claims without it.
 */
final class Recalls {

    private static final String MARK = "!";
    /** No id of a claim has a space. */
    private static final String NOTE = "recall ";

    private Recalls() {}

    /** A claim as the tables know it. */
    static Claim stored(Claim claim) {
        return claim.recallable() ? changed(claim, claim.id() + MARK, claim.mode()) : claim;
    }

    /** The same claim, which waits. */
    static Claim waiting(Claim stored) {
        return changed(stored, stored.id(), Claim.Mode.QUEUE);
    }

    private static Claim changed(Claim claim, String id, Claim.Mode mode) {
        return new Claim(
                claim.key(),
                id,
                claim.owner(),
                claim.lease(),
                mode,
                claim.keeping(),
                claim.share(),
                claim.recallable());
    }

    static boolean isRecallable(@Nullable String storedId) {
        return storedId != null && storedId.endsWith(MARK);
    }

    /** The id as its client knows it. */
    static String id(String storedId) {
        return isRecallable(storedId) ? storedId.substring(0, storedId.length() - MARK.length()) : storedId;
    }

    /** What a client is left that has to be rung for, about a claim that is called back. */
    static String note(String storedId) {
        return NOTE + storedId;
    }

    /** What was noted for this client: a claim that is called back, or was released by force. */
    static Signal noted(String note) {
        return note.startsWith(NOTE)
                ? new Signal.Recall(note.substring(NOTE.length()))
                : new Signal.Suspect(note, LossReason.FORCED);
    }

    /** The answer to a claim that an owner is before, as it goes through this module: it names one to call back. */
    static ClaimResult behind(@Nullable String owner, Claim claim, ClaimResult.Queued queued) {
        if (isRecallable(owner)) {
            return new ClaimResult.Queued(queued.recheckAfter(), owner, queued.newestToken());
        }
        return claim.mode() == Claim.Mode.TRY ? new ClaimResult.Busy() : queued;
    }

    /** The same as it leaves the module. */
    static ClaimResult.Queued told(ClaimResult.Queued queued) {
        return new ClaimResult.Queued(queued.recheckAfter(), null, queued.newestToken());
    }

    static Signal told(Signal signal) {
        if (signal instanceof Signal.Grant grant && isRecallable(grant.claimId())) {
            return new Signal.Grant(id(grant.claimId()), grant.fencingToken(), grant.longest());
        }
        if (signal instanceof Signal.Suspect suspect && isRecallable(suspect.claimId())) {
            return new Signal.Suspect(id(suspect.claimId()), suspect.reason());
        }
        return signal instanceof Signal.Recall recall ? new Signal.Recall(id(recall.claimId())) : signal;
    }

    static RenewalResult told(RenewalResult result) {
        return new RenewalResult(
                result.renewed().stream().map(Recalls::id).collect(Collectors.toSet()),
                told(result.lost()),
                told(result.refused()));
    }

    private static <T> Map<String, T> told(Map<String, T> byId) {
        return byId.entrySet().stream().collect(Collectors.toMap(each -> id(each.getKey()), Map.Entry::getValue));
    }
}
