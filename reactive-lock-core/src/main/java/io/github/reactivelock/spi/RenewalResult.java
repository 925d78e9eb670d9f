package io.github.reactivelock.spi;

import io.github.reactivelock.state.LossReason;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The store's answer to a renewal of several claims, each of which is answered for itself: what is wrong with one lock
 * says nothing of the others. A claim that is in none of the parts could not be asked about (its shard did not answer,
 * say), which is not a loss, and neither is a refusal.
 *
 * @param renewed ids of the claims whose lease started anew
 * @param lost ids of the claims that the store does not hold, and why, as far as it can tell
 * @param refused ids of the claims that the store answered with an error, and that error, in words for a user
 */
public record RenewalResult(Set<String> renewed, Map<String, LossReason> lost, Map<String, Throwable> refused) {

    /**
     * Takes unmodifiable copies.
     *
     * @param renewed ids still held
     * @param lost ids no longer held
     * @param refused ids of which the store said that it could not tell
     */
    public RenewalResult {
        renewed = Set.copyOf(renewed);
        lost = Map.copyOf(lost);
        refused = Map.copyOf(refused);
    }

    /**
     * The result of a store that refused nothing.
     *
     * @param renewed ids still held
     * @param lost ids no longer held
     */
    public RenewalResult(Set<String> renewed, Map<String, LossReason> lost) {
        this(renewed, lost, Map.of());
    }

    /**
     * Joins the answers about two parts of the claims.
     *
     * @param other about claims that this one says nothing of
     * @return about all of them
     */
    public RenewalResult and(RenewalResult other) {
        return joined(List.of(this, other));
    }

    /**
     * Joins the answers about any number of parts of the claims.
     *
     * @param parts each about other claims
     * @return about all of them; of no part, that nothing is known
     */
    public static RenewalResult joined(Collection<RenewalResult> parts) {
        Set<String> renewed = new HashSet<>();
        Map<String, LossReason> lost = new HashMap<>();
        Map<String, Throwable> refused = new HashMap<>();
        for (RenewalResult part : parts) {
            renewed.addAll(part.renewed);
            lost.putAll(part.lost);
            refused.putAll(part.refused);
        }
        return new RenewalResult(renewed, lost, refused);
    }
}
