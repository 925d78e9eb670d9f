package io.github.reactivelock.quorum;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.state.LossReason;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The nodes' answers to one renewal of several claims, counted for each claim. A pure count, used by one thread at a
 * time.
 */
final class VoteCount {

    private final int majority;
    private final int claims;
    private final Map<String, Integer> renewals = new HashMap<>();
    private final Map<String, List<LossReason>> losses = new HashMap<>();
    private final Set<String> renewed = new HashSet<>();
    private final Map<String, LossReason> lost = new HashMap<>();

    VoteCount(List<Claim> held, int nodes) {
        this.majority = nodes / 2 + 1;
        this.claims = held.size();
    }

    void add(RenewalResult answer) {
        for (String id : answer.renewed()) {
            if (renewals.merge(id, 1, Integer::sum) == majority) {
                renewed.add(id);
            }
        }
        answer.lost().forEach((id, reason) -> {
            List<LossReason> reasons = losses.computeIfAbsent(id, any -> new ArrayList<>());
            reasons.add(reason);
            if (reasons.size() == majority) {
                lost.put(id, why(reasons));
            }
        });
    }

    /**
     * A vote that is another's shows no owner: a node that forgot ours, or let it run out, gives it to the next who
     * asks, long before that one has a majority that counts.
     */
    private static LossReason why(List<LossReason> reasons) {
        return reasons.stream()
                .filter(reason -> reason != LossReason.TAKEN_OVER)
                .findFirst()
                .orElse(LossReason.EXPIRED);
    }

    /** Every claim has a majority, one way or the other. */
    boolean isDecided() {
        return renewed.size() + lost.size() == claims;
    }

    /** A claim that has neither majority is in neither part. */
    RenewalResult result() {
        return new RenewalResult(renewed, lost);
    }
}
