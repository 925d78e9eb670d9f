package io.github.reactivelock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.queue.Content;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Paths, what a node holds, and the options that make them. */
class KeyLayoutTest {

    private final KeyLayout names = new KeyLayout("reactivelock");

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
    void aNodeWhoseNameNoKeyHasIsNoLock() {
        assertThat(KeyLayout.key("a%2Fb")).isEqualTo("a/b");
        assertThat(KeyLayout.key("%2E.")).isEqualTo("..");
        for (String name : List.of("a+b", "a%2fb", "%zz", "!session", "..")) {
            assertThat(KeyLayout.key(name)).as(name).isEmpty();
        }
    }

    @Test
    void theOwnersNameMayHoldSpaces() {
        Claim claim = new Claim("k", "id", "report job 7", Duration.ofSeconds(30), Claim.Mode.QUEUE);
        Content content = Content.of("session", claim);

        assertThat(Content.parse(content.text())).isEqualTo(content);
        assertThat(Content.parse("made by hand").owner()).isEqualTo("made by hand");
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
