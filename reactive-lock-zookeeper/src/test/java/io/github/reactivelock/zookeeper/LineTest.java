package io.github.reactivelock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Who holds a lock, and what the others wait for, by the names of the nodes alone. */
class LineTest {

    private static final String READER = ":1.2147483647:";

    private static String node(String claimId, Share share, int number) {
        return SequenceNode.prefix(claimId, share) + String.format("%010d", number);
    }

    private static List<String> in(String... names) {
        return Line.of(List.of(names)).held().stream()
                .map(SequenceNode::claimId)
                .toList();
    }

    @Test
    void aNodeNamesItsShareAndOneOfTheWholeNamesNone() {
        Claim claim = new Claim("k", "a.b-_", "me", Duration.ofSeconds(1), Claim.Mode.QUEUE);
        assertThat(new KeyLayout("locks").claim(claim)).isEqualTo("/locks/k/a.b-_:");
        assertThat(node("a", Share.ONE, 7)).isEqualTo("a" + READER + "0000000007");
        assertThat(SequenceNode.of("a.b-_:0000000007"))
                .isEqualTo(new SequenceNode("a.b-_:0000000007", "a.b-_", Share.WHOLE, 7));
        assertThat(SequenceNode.of("a:2.5:-2147483648"))
                .isEqualTo(new SequenceNode("a:2.5:-2147483648", "a", Share.permits(2, 5), Integer.MIN_VALUE));
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
    void aShareThatIsTriedIsAdmittedOnlyIfNobodyWaits() {
        Line readers = Line.of(List.of(node("a", Share.ONE, 1)));
        Line before = Line.of(List.of(node("a", Share.ONE, 1), node("w", Share.WHOLE, 2)));

        assertThat(readers.admits(Share.ONE)).isTrue();
        assertThat(readers.admits(Share.WHOLE)).isFalse();
        assertThat(before.admits(Share.ONE)).isFalse();
        assertThat(Line.of(List.of()).admits(Share.WHOLE)).isTrue();
    }

    @Test
    void aReaderWaitsForTheLastWriterAndAWriterForItsPredecessor() {
        List<String> names = List.of(
                node("a", Share.ONE, 1),
                node("v", Share.WHOLE, 2),
                node("w", Share.WHOLE, 3),
                node("b", Share.ONE, 4),
                node("c", Share.ONE, 5),
                node("x", Share.WHOLE, 6));

        assertThat(QueuePosition.of("c", names).obstacle())
                .extracting(SequenceNode::claimId)
                .isEqualTo("w");
        assertThat(QueuePosition.of("x", names).obstacle())
                .extracting(SequenceNode::claimId)
                .isEqualTo("c");
        assertThat(QueuePosition.of("w", names).behind()).isEqualTo("v");
        for (String beside : List.of("b", "c", "x", "v")) {
            assertThat(QueuePosition.of(beside, names).behind()).as(beside).isNull();
        }
    }

    @Test
    void whoWaitsForUnitsHasNoOneNodeToWatch() {
        Share two = Share.permits(2, 3);
        List<String> names = List.of(node("a", two, 1), node("b", two, 2), node("r", Share.ONE, 3));

        assertThat(QueuePosition.of("b", names).isIn()).isFalse();
        assertThat(QueuePosition.of("b", names).obstacle()).isNull();
        assertThat(QueuePosition.of("r", names).isIn()).isFalse();
        assertThat(QueuePosition.of("r", names).obstacle()).isNull();
    }

    @Test
    void numbersThatOverflowKeepTheirOrderAmongSharesToo() {
        List<String> names = List.of("c:1.2:-2147483647", "b:1.2:-2147483648", "a:1.2:2147483647");

        assertThat(in(names.toArray(String[]::new))).containsExactly("a", "b");
    }
}
