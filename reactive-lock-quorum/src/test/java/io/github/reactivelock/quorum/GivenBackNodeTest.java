package io.github.reactivelock.quorum;

import static io.github.reactivelock.quorum.ThreeStores.LIMIT;
import static io.github.reactivelock.quorum.ThreeStores.claim;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Sinks;

/** Node 1 was told to give its vote back and has not said that it did, when the claim is granted by nodes 0 and 2. */
class GivenBackNodeTest {

    private final Sinks.One<Boolean> slow = Sinks.one();
    private final ThreeStores three = new ThreeStores();
    private final ThreeStores.Site one = three.site();
    private final ThreeStores.Site other = three.site();
    private final Claim first = claim("first");
    private final Claim second = claim("second");

    @BeforeEach
    void nodeTwoIsAnothers() {
        three.allHaveBeenUpForLong();
        Object unused = three.store(2).vote(second, 1, 0, Duration.ZERO).block(LIMIT);
        one.cutOff.add(1);
    }

    /** A renewal counts the vote that is being given back; the release that is read late frees it under the hold. */
    @Test
    void noHoldRestsOnAVoteThatIsBeingGivenBack() {
        Object unused = three.store(1).vote(first, 1, 0, Duration.ZERO).block(LIMIT); // its answer was lost
        for (int i = 0; i < 4; i++) {
            assertThat(one.asks(first)).isInstanceOf(ClaimResult.Queued.class);
        } // the release to node 1 is in the network, on a connection that broke
        unused = three.store(2).release(second).block(LIMIT);
        assertThat(one.asks(first)).isInstanceOf(ClaimResult.Granted.class); // of nodes 0 and 2

        one.cutOff.clear();
        one.cutOff.add(0); // for longer than a lease; node 1 is back
        boolean relies = true;
        for (int i = 0; i < 4; i++) {
            relies = relies
                    && one.quorum
                            .renew(List.of(first))
                            .blockOptional(LIMIT)
                            .orElseThrow()
                            .renewed()
                            .contains("first");
            three.pass(i < 3 ? Duration.ofSeconds(4) : Duration.ZERO);
        }
        unused = three.store(1).release(first).block(LIMIT); // read at last

        boolean another = other.asks(claim("third")) instanceof ClaimResult.Granted;
        assertThat(relies && another).as("two holders").isFalse();
    }

    /**
     * The node says that the vote is back after the grant: it has to be asked all the same, or the hold is short of it.
     */
    @Test
    void aNodeSlowToReturnAVoteIsAskedThoughTheRoundIsOver() {
        for (int i = 0; i < 3; i++) {
            assertThat(one.asks(first)).isInstanceOf(ClaimResult.Queued.class);
        }
        one.late.put(1, slow.asMono());
        assertThat(one.asks(first)).isInstanceOf(ClaimResult.Queued.class); // gives back; node 1 cannot be reached
        one.cutOff.clear();
        Object unused = three.store(2).release(second).block(LIMIT);
        assertThat(one.asks(first)).isInstanceOf(ClaimResult.Granted.class); // node 1 is told again, and is slow

        slow.tryEmitValue(true).orThrow();

        assertThat(three.isFree(1)).isFalse();
    }
}
