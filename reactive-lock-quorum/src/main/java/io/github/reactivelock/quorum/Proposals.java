package io.github.reactivelock.quorum;

import io.github.reactivelock.spi.FencingTokens;
import io.github.reactivelock.spi.QuorumNode;
import java.time.Duration;

/**
 * The tokens that claims propose to the nodes, in the hope that a majority takes one and the same: the time by this
 * client's clock, with a lead that brings it above what each node would give by itself. The lead is what the nodes'
 * numbers were ahead of that clock when they differed last. It may be below zero. Nothing but the number of round trips
 * depends on it.
 */
final class Proposals {

    /** For what arrives later than usual. Nodes take what is a tenth of a second ahead of them. */
    private static final long MARGIN_MICROS = 5_000;

    private static final long MOST = FencingTokens.HIGHEST_NUMBER - 1;

    private final Surroundings surroundings;
    private volatile long lead;
    private volatile long restsUntil;

    Proposals(Surroundings surroundings) {
        this.surroundings = surroundings;
        this.restsUntil = surroundings.nanoClock().getAsLong();
    }

    /** The moment of a question, by this client's clock. */
    long now() {
        return QuorumClaim.ticket(surroundings);
    }

    /** The token to propose with a question of that moment. */
    long at(long asked) {
        if (restsUntil - surroundings.nanoClock().getAsLong() > 0) {
            return 0;
        }
        long number = Math.max(0, Math.min(MOST, asked + lead + MARGIN_MICROS));
        return number == 0 ? 0 : QuorumNode.ofAGrant(FencingTokens.of(number));
    }

    /** For so long no claim can win, because too few nodes count; or its grant takes another round trip. */
    void rest(Duration time) {
        restsUntil = surroundings.nanoClock().getAsLong() + time.toNanos();
    }

    /** The votes of a majority differed, and this was the highest of their tokens. */
    void differed(long asked, long highest) {
        lead = FencingTokens.number(highest) - asked;
    }
}
