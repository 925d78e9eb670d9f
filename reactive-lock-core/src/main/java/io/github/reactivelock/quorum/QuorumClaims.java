package io.github.reactivelock.quorum;

import io.github.reactivelock.spi.Claim;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** What is known of the claims that ask or hold, until each is withdrawn by its release. */
final class QuorumClaims {

    private static final long SAME_MOMENT = 1_000_000;

    private final Map<String, QuorumClaim> byId = new ConcurrentHashMap<>();
    private final Surroundings surroundings;
    private final AtomicLong lastTicket = new AtomicLong(Long.MIN_VALUE);

    QuorumClaims(Surroundings surroundings) {
        this.surroundings = surroundings;
    }

    /** The claim as it is known, or anew if it was withdrawn. */
    QuorumClaim asking(Claim claim) {
        return byId.compute(
                claim.id(),
                (id, known) ->
                        known == null || known.isWithdrawn() ? new QuorumClaim(surroundings, nextTicket()) : known);
    }

    /** No two claims of a client have the same, or neither would be the older one; a clock that was set back counts. */
    private long nextTicket() {
        long now = QuorumClaim.ticket(surroundings);
        return lastTicket.updateAndGet(last -> now <= last && now > last - SAME_MOMENT ? last + 1 : now);
    }

    /** A round of it has ended. */
    void forgetIfWithdrawn(Claim claim, QuorumClaim asked) {
        if (asked.isWithdrawn()) {
            byId.remove(claim.id(), asked);
        }
    }

    void renewing(List<Claim> held) {
        held.forEach(claim -> byId.computeIfPresent(claim.id(), (id, known) -> {
            known.renewing(claim.lease());
            return known;
        }));
    }

    void withdraw(Claim claim) {
        QuorumClaim known = byId.remove(claim.id());
        if (known != null) {
            known.withdraw();
        }
    }

    /** The claim if a node's grant is of use to it. */
    @Nullable
    QuorumClaim waiting(String claimId) {
        QuorumClaim known = byId.get(claimId);
        return known != null && known.isWaiting() ? known : null;
    }
}
