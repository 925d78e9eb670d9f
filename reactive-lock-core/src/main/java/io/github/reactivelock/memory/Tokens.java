package io.github.reactivelock.memory;

import io.github.reactivelock.spi.FencingTokens;
import io.github.reactivelock.spi.QuorumNode;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The one counter of a store. As a node of a quorum it takes the number that a claim proposes, if that is a little
 * ahead.
 */
final class Tokens {

    /** Where a number is a time in microseconds, a tenth of a second. */
    private static final long MOST_AHEAD = 100_000;

    private final AtomicLong counter = new AtomicLong();

    long next() {
        return FencingTokens.of(counter.incrementAndGet());
    }

    /** The number of a vote. */
    long nextServed() {
        return FencingTokens.of(counter.updateAndGet(last -> (last / QuorumNode.SERVED + 1) * QuorumNode.SERVED));
    }

    /** The proposed token, or the number of a vote. */
    long nextVote(long proposal) {
        return follow(proposal) ? proposal : nextServed();
    }

    /** Counts on from the proposed token, if that is higher than the last one, and not by far. */
    boolean follow(long proposal) {
        long wanted = FencingTokens.number(proposal);
        long last = counter.get();
        while (wanted > last && wanted - last <= MOST_AHEAD) {
            if (counter.compareAndSet(last, wanted)) {
                return true;
            }
            last = counter.get();
        }
        return false;
    }

    /** No later token is lower than this one, or the same. */
    void raise(long token) {
        counter.accumulateAndGet(FencingTokens.number(token), Math::max);
    }
}
