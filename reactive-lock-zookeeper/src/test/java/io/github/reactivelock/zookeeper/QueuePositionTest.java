package io.github.reactivelock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.spi.Claim;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Paths, and what a claim concludes from the names of the nodes beside its own. */
class QueuePositionTest {

    private static final List<String> NAMES = List.of("c.3:0000000012", "a-:0000000010", "strange", "b_.1:0000000011");

    private final KeyLayout names = new KeyLayout("reactivelock");

    @Test
    void theLowestNumberIsFirstAndNobodyElseIsLookedAt() {
        assertThat(Line.of(NAMES).places().get(0)).isEqualTo(new SequenceNode("a-:0000000010", "a-", 10));
        assertThat(QueuePosition.of("a-", NAMES).predecessor()).isNull();
        assertThat(QueuePosition.of("c.3", NAMES).predecessor())
                .isEqualTo(new SequenceNode("b_.1:0000000011", "b_.1", 11));
        assertThat(QueuePosition.of("nobody", NAMES).own()).isNull();
    }

    @Test
    void aClaimWithTwoNodesStandsAtTheFirst() {
        QueuePosition line = QueuePosition.of("b", List.of("b:0000000014", "a:0000000010", "b:0000000012"));

        assertThat(line.own()).isEqualTo(new SequenceNode("b:0000000012", "b", 12));
        assertThat(line.surplus()).containsExactly(new SequenceNode("b:0000000014", "b", 14));
    }

    @Test
    void numbersThatOverflowKeepTheirOrder() {
        List<String> line = List.of("b:-2147483648", "a:2147483647", "c:-2147483647");

        assertThat(Line.of(line).places().get(0))
                .extracting(SequenceNode::claimId)
                .isEqualTo("a");
        assertThat(QueuePosition.of("c", line).predecessor())
                .extracting(SequenceNode::claimId)
                .isEqualTo("b");
        assertThat(QueuePosition.of("b", line).predecessor())
                .extracting(SequenceNode::claimId)
                .isEqualTo("a");
    }

    @Test
    void whateverCouldBeMistakenInAPathIsEncoded() {
        assertThat(names.lock("order:42.a")).isEqualTo("/reactivelock/order:42.a");
        assertThat(names.lock("a/b")).isEqualTo("/reactivelock/a%2Fb");
        assertThat(names.lock("..")).isEqualTo("/reactivelock/%2E.");
        assertThat(names.lock(".")).isEqualTo("/reactivelock/%2E");
        assertThat(names.lock("!x")).isEqualTo("/reactivelock/%21x");
        assertThat(names.lock("\u00e9\u0000 ")).isEqualTo("/reactivelock/%C3%A9%00%20");
        List<String> keys = List.of("a", "a/", "%2F", "/", ".", "%2E", "!", "A", "\u00e9", "e\u0301");
        Set<String> paths = new HashSet<>();
        keys.forEach(key -> paths.add(names.lock(key)));
        assertThat(paths).hasSameSizeAs(keys);
    }

    @Test
    void aTokenThatWouldOverflowIsRefused() {
        assertThat(new Node("/n", 1L << 50, 1).token()).isEqualTo(1L << 62);
        assertThatThrownBy(() -> new Node("/n", 1L << 51, 1).token()).hasMessageContaining("new ensemble");
    }

    @Test
    void theOwnersNameMayHoldSpaces() {
        Claim claim = new Claim("k", "id", "report job 7", Duration.ofSeconds(30), Claim.Mode.QUEUE);
        Content content = Content.of("session", claim);

        assertThat(Content.parse(content.bytes())).isEqualTo(content);
        assertThat(Content.parse(KeyLayout.bytes("made by hand")).owner()).isEqualTo("made by hand");
    }

    @Test
    void optionsOutOfRangeAreRefusedAndNamed() {
        ZooKeeperBackendOptions defaults = ZooKeeperBackendOptions.defaults();
        for (String bad : List.of("", "a/b", "a b", ".", "..", "x".repeat(65))) {
            assertThatThrownBy(() -> defaults.withPrefix(bad))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("'" + bad + "'");
        }
        assertThatThrownBy(() -> defaults.withCommandTimeout(Duration.ofMillis(9)))
                .hasMessageContaining("PT0.009S");
        assertThatThrownBy(() -> defaults.withSessionTimeout(Duration.ofMillis(999)))
                .hasMessageContaining("PT0.999S");
        assertThatThrownBy(() -> defaults.withDigest("us:er", "s3cret"))
                .hasMessageContaining("us:er")
                .hasMessageNotContaining("s3cret");
    }
}
