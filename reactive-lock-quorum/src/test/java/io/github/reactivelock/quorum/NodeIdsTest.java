package io.github.reactivelock.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** When a claim goes by another id at a node. */
class NodeIdsTest {

    private static final Claim CLAIM = new Claim("k", "client.7", "a test", Duration.ofSeconds(10), Claim.Mode.QUEUE);

    private final NodeIds ids = new NodeIds();

    private String at(int node) {
        return ids.at(node, CLAIM).id();
    }

    @Test
    void aVoteThatIsKnownToBeBackIsAskedForByAnotherId() {
        ids.giveBack(List.of(0, 2));
        assertThat(ids.givingBackAt(0, CLAIM)).isEqualTo(CLAIM);
        assertThat(ids.givingBackAt(1, CLAIM)).isNull();
        assertThat(ids.isVoteOfNow(0, "client.7")).isFalse();
        String released = at(0);
        assertThat(released).as("or the node would not know which").isEqualTo("client.7");

        ids.isBack(0, released);

        assertThat(ids.givingBackAt(0, CLAIM)).isNull();
        assertThat(ids.givingBackAt(2, CLAIM)).isNotNull();
        assertThat(ids.isVoteOfNow(0, released)).isFalse();
        assertThat(ids.isVoteOfNow(0, at(0))).isTrue();
        assertThat(at(0)).isNotEqualTo(released);
        assertThat(NodeIds.original(at(0))).isEqualTo("client.7");
        assertThat(List.of(at(1), at(2))).containsOnly("client.7");
    }

    /** It is of the time before; the release under the id of now may still be on its way. */
    @Test
    void anOldAnswerDoesNotSayThatTheVoteOfNowIsBack() {
        ids.giveBack(List.of(0));
        String old = at(0);
        ids.isBack(0, old);
        String current = at(0);
        ids.giveBack(List.of(0));

        ids.isBack(0, old);

        assertThat(ids.givingBackAt(0, CLAIM)).isNotNull();
        assertThat(at(0)).isEqualTo(current);
        ids.isBack(0, current);
        assertThat(List.of(old, current)).doesNotContain(at(0));
    }

    @Test
    void anAnswerToAReleaseThatEndsTheClaimChangesNothing() {
        ids.isBack(0, at(0));

        assertThat(at(0)).isEqualTo("client.7");
        assertThat(ids.differ()).isFalse();
    }
}
