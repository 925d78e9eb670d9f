package io.github.reactivelock.spi;

import io.github.reactivelock.state.LossReason;
import java.util.Map;
import java.util.Set;

/**
 * The store's answer to a renewal of several claims. A claim that is in neither part could not be asked about (its
 * shard did not answer, say), which is not a loss.
 *
 * @param renewed ids of the claims whose lease started anew
 * @param lost ids of the claims that the store does not hold, and why, as far as it can tell
 */
public record RenewalResult(Set<String> renewed, Map<String, LossReason> lost) {

    /**
     * Takes unmodifiable copies.
     *
     * @param renewed ids still held
     * @param lost ids no longer held
     */
    public RenewalResult {
        renewed = Set.copyOf(renewed);
        lost = Map.copyOf(lost);
    }
}
