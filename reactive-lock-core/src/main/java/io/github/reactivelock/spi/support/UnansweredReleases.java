package io.github.reactivelock.spi.support;

import io.github.reactivelock.spi.Claim;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import reactor.core.publisher.Mono;

/**
 * Claims of holds whose release got no answer, until that is confirmed or their lease is over. The first deletion may
 * have been carried out, so that the next one finds nothing; but the hold was in force when the first was sent. Safe
 * for use from any thread.
 */
public final class UnansweredReleases {

    private final Set<String> ids = ConcurrentHashMap.newKeySet();

    /** None yet. */
    public UnansweredReleases() {}

    /**
     * Remembers a release that got no answer, for the length of the claim's lease.
     *
     * @param claim was the owner when its deletion was sent
     */
    public void add(Claim claim) {
        ids.add(claim.id());
        FireAndForget.run(
                "forgetting a release that got no answer",
                Mono.delay(claim.lease(), DriverThreads.timer()).doOnNext(now -> ids.remove(claim.id())));
    }

    /**
     * Asks once more. Cold.
     *
     * @param claim perhaps one of those
     * @param removal deletes what there is of it, and tells whether that owned the lock
     * @return whether the claim owned the lock until it was released, by this deletion or an earlier one
     */
    public Mono<Boolean> again(Claim claim, Mono<Boolean> removal) {
        return removal.map(owned -> ids.remove(claim.id()) || owned);
    }
}
