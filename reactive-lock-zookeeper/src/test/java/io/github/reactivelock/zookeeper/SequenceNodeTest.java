package io.github.reactivelock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.queue.PlaceQueue;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Who holds a lock, and what the others wait for, by the names of the nodes alone. */
class SequenceNodeTest {

    private static final String READER = ":1.2147483647:";

    private static final List<String> NAMES = List.of("c.3:0000000012", "a-:0000000010", "strange", "b_.1:0000000011");

    private static String node(String claimId, Share share, int number) {
        return SequenceNode.prefix(claimId, share) + String.format("%010d", number);
    }

    private static List<String> in(String... names) {
        return SequenceNode.queue(List.of(names)).held().stream()
                .map(SequenceNode::claimId)
                .toList();
    }

    @Test
    void aNodeNamesItsShareAndOneOfTheWholeNamesNone() {
        Claim claim = new Claim("k", "a.b-_", "me", Duration.ofSeconds(1), Claim.Mode.QUEUE);
        assertThat(new KeyLayout("locks").claim(claim, "me")).isEqualTo("/locks/k/a.b-_:");
        assertThat(node("a", Share.ONE, 7)).isEqualTo("a" + READER + "0000000007");
        assertThat(SequenceNode.of("a.b-_:0000000007"))
                .isEqualTo(new SequenceNode("a.b-_:0000000007", "a.b-_", Share.WHOLE, 7));
        assertThat(SequenceNode.of("a:2.5:-2147483648"))
                .isEqualTo(new SequenceNode("a:2.5:-2147483648", "a", Share.permits(2, 5), Integer.MIN_VALUE));
    }

    @Test
    void aNodeOfAClaimThatCanBeCalledBackNamesItsClient() {
        Claim claim = new Claim(
                "k", "a", "me", Duration.ofSeconds(1), Claim.Mode.QUEUE, Claim.Keeping.RENEWED, Share.WHOLE, true);
        String name = SequenceNode.prefix(claim, "my-client") + "0000000007";

        assertThat(name).isEqualTo("a:!my-client:0000000007");
        assertThat(SequenceNode.of(name)).isEqualTo(new SequenceNode(name, "a", Share.WHOLE, 7, "my-client"));
        assertThat(SequenceNode.isRecallable(name)).isTrue();
        assertThat(SequenceNode.isRecallable("a:0000000007")).isFalse();
    }

    @Test
    void whatIsNoShareThatWeKnowExcludesEverybody() {
        for (String unknown : List.of("a:x:0000000001", "a:5.2:0000000001", "a:.:0000000001", "a:1:0000000001")) {
            assertThat(in(unknown, node("b", Share.ONE, 2))).as(unknown).hasSize(1);
        }
    }

    @Test
    void allUpToTheFirstThatDoesNotFitAreIn() {
        Share two = Share.permits(2, 4);
        Share one = Share.permits(1, 4);
        assertThat(in(node("a", Share.ONE, 1), node("b", Share.ONE, 2), node("w", Share.WHOLE, 3)))
                .containsExactly("a", "b");
        assertThat(in(node("w", Share.WHOLE, 3), node("a", Share.ONE, 4))).containsExactly("w");
        assertThat(in(node("a", two, 1), node("b", one, 2), node("c", two, 3), node("d", one, 4)))
                .as("the last one would fit")
                .containsExactly("a", "b");
        assertThat(in(node("a", two, 1), node("b", Share.permits(1, 2), 2), node("c", Share.permits(1, 3), 3)))
                .as("each by its own capacity, and none overtakes")
                .containsExactly("a");
    }

    @Test
    void numbersThatOverflowKeepTheirOrderAmongSharesToo() {
        List<String> names = List.of("c:1.2:-2147483647", "b:1.2:-2147483648", "a:1.2:2147483647");

        assertThat(in(names.toArray(String[]::new))).containsExactly("a", "b");
    }

    @Test
    void theLowestNumberIsFirstAndNobodyElseIsLookedAt() {
        assertThat(SequenceNode.queue(NAMES).places().get(0)).isEqualTo(new SequenceNode("a-:0000000010", "a-", 10));
        assertThat(SequenceNode.queue(NAMES).position("a-").predecessor()).isNull();
        assertThat(SequenceNode.queue(NAMES).position("c.3").predecessor())
                .isEqualTo(new SequenceNode("b_.1:0000000011", "b_.1", 11));
        assertThat(SequenceNode.queue(NAMES).position("nobody").own()).isNull();
    }

    @Test
    void numbersThatOverflowKeepTheirOrder() {
        PlaceQueue<SequenceNode> queue = SequenceNode.queue(List.of("b:-2147483648", "a:2147483647", "c:-2147483647"));

        assertThat(queue.places().get(0)).extracting(SequenceNode::claimId).isEqualTo("a");
        assertThat(queue.position("c").predecessor())
                .extracting(SequenceNode::claimId)
                .isEqualTo("b");
        assertThat(queue.position("b").predecessor())
                .extracting(SequenceNode::claimId)
                .isEqualTo("a");
    }

    @Test
    void aTokenThatWouldOverflowIsRefused() {
        assertThat(new Node("/n", 1L << 50, 1).token()).isEqualTo(1L << 62);
        assertThatThrownBy(() -> new Node("/n", 1L << 51, 1).token()).hasMessageContaining("new ensemble");
    }
}
