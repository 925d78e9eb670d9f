package io.github.reactivelock.quorum;

import static io.github.reactivelock.quorum.ThreeStores.LIMIT;
import static io.github.reactivelock.quorum.ThreeStores.claim;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.RenewalResult;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A vote that is given back over a connection which then breaks. What had left is still in the network, and the node
 * reads it after what the client says over its next connection: {@code models/Quorum.tla: NewIds}.
 */
class StaleReleaseTest {

    private final ThreeStores three = new ThreeStores();
    private final ThreeStores.Site one = three.site();
    private final ThreeStores.Site other = three.site();
    private final Claim first = claim("first");
    private final Claim second = claim("second");

    /**
     * The second claim has the third node's vote. The first one gives back what it may have at the second node, and is
     * granted.
     */
    @BeforeEach
    void theFirstClaimGivesItsVotesBackAndGetsThemAnew() {
        three.allHaveBeenUpForLong();
        other.cutOff.addAll(Set.of(0, 1));
        assertThat(other.quorum.claim(second).onErrorComplete().blockOptional(LIMIT))
                .isEmpty();
        one.cutOff.add(1);
        for (int i = 0; i < 4; i++) { // then its patience is over
            assertThat(one.asks(first)).isInstanceOf(ClaimResult.Queued.class);
        }
        one.cutOff.clear();
        assertThat(one.asks(first)).isInstanceOf(ClaimResult.Granted.class);
    }

    @Test
    void aVoteIsNotTakenBackByWhatWasSaidBeforeIt() {
        boolean unused = three.store(1).release(first).blockOptional(LIMIT).orElseThrow(); // the one from before

        other.cutOff.remove(1);
        assertThat(other.asks(second)).isNotInstanceOf(ClaimResult.Granted.class);
    }

    @Test
    void aHoldByOtherIdsIsRenewedAndReleasedAsAnyOther() {
        RenewalResult renewed =
                one.quorum.renew(List.of(first)).blockOptional(LIMIT).orElseThrow();
        assertThat(renewed.renewed()).containsExactly("first");

        assertThat(one.quorum.release(first).block(LIMIT)).isTrue();
        assertThat(List.of(0, 1)).allMatch(three::isFree);
        renewed = one.quorum.renew(List.of(first)).blockOptional(LIMIT).orElseThrow();
        assertThat(renewed.lost()).containsOnlyKeys("first");
    }

    @Test
    void aReleaseThatIsSaidAgainEndsItAtEveryNode() {
        one.cutOff.addAll(Set.of(0, 1));
        assertThat(one.quorum.release(first).onErrorComplete().blockOptional(LIMIT))
                .isEmpty();
        one.cutOff.clear();

        assertThat(one.quorum.release(first).block(LIMIT)).isTrue();

        assertThat(List.of(0, 1)).allMatch(three::isFree);
    }

    @Test
    void aHoldByOtherIdsIsKeptForItsMinimum() {
        Claim kept = claim("kept");
        assertThat(one.quorum.keep(first, kept).block(LIMIT)).isTrue();

        other.cutOff.clear();
        assertThat(other.asks(second)).isInstanceOf(ClaimResult.Queued.class);
    }
}
