package io.github.reactivelock.spi;

import java.time.Duration;
import reactor.core.publisher.Mono;

/** A store that can be one of several independent ones among which a majority decides. */
public interface QuorumNode extends LockBackend {

    /**
     * A number that a node gives to a vote by itself is a multiple of this one: to a claim that it serves because
     * another left, or whose proposal it does not take. Several nodes may give the same, before the claim knows of any.
     * No grant of a quorum has one.
     */
    int SERVED = 8;

    /**
     * Whether a token that a node shows may be that of a grant of the quorum.
     *
     * @param fencingToken as a node shows it
     * @return false if a node gave it by itself
     */
    static boolean mayBeAGrants(long fencingToken) {
        return FencingTokens.number(fencingToken) % SERVED != 0;
    }

    /**
     * The lowest token that a grant may have.
     *
     * @param fencingToken of a vote
     * @return that one, or the next
     */
    static long ofAGrant(long fencingToken) {
        return mayBeAGrants(fencingToken) ? fencingToken : fencingToken + FencingTokens.of(1);
    }

    /**
     * As {@link #claim}, and says in the same atomic step for how long the store has been up, because one that lost
     * its memory would vote twice.
     *
     * <p>The claim proposes a token, so that nodes which know nothing of each other may give the same. A node that
     * grants the lock gives the proposed one if it is higher than any that it would give by itself, and not so high
     * that tokens would leave it behind: a node that numbers by its clock takes what is a tenth of a second ahead of it
     * at most. If the claim owns the lock here already, its token becomes the proposed one on the same conditions. A
     * token that {@link #forceRelease} was to end here, though no claim had it, is not given: it was ended at other
     * nodes, and this vote is late.
     *
     * @param claim who asks for what
     * @param ticket the claim's place among those that wait, lower first, so that nodes which got them in different
     *     orders serve the same one; a wish, from 1 to 2<sup>52</sup>
     * @param proposal a token, whose last {@link #PASS_BITS} bits are zero; zero proposes none
     * @param longestLease a node that has been up for less is not counted, and so takes no proposal
     * @return the answer and who gave it; never empty
     */
    Mono<Vote> vote(Claim claim, long ticket, long proposal, Duration longestLease);

    /**
     * Sees to it that no later token of the key is lower than, or the same as, the one given, and shows that one as the
     * owner's if the claim owns the lock here. A lower number makes way. A higher one stays, and the answer is false,
     * unless it is the one given as the vote's: then it makes way as well, and the node counts on from it all the same.
     * A question that comes late thus never lowers the number of a vote that was given since. The answer is false too
     * if another claim that shares the lock has this token here, because each node numbers by itself. Watchers get the
     * owner with this token, because it may differ from the one before.
     *
     * @param claim the claim that has a majority
     * @param fencingToken the token of its grant
     * @param votesNumber the number that the node gave to the vote by itself, a multiple of {@link #SERVED}, if the
     *     grant was in force when the node told it; else zero
     * @return whether the claim owns the lock here, under that token; never empty
     */
    Mono<Boolean> raise(Claim claim, long fencingToken, long votesNumber);
}
