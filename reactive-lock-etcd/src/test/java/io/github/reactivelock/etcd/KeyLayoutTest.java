package io.github.reactivelock.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.etcd.jetcd.ByteSequence;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class KeyLayoutTest {

    private final KeyLayout names = new KeyLayout("reactivelock");

    private static KeySlot claim(String key) {
        return new KeySlot(key, "AbC-_9", 0, 1);
    }

    @Test
    void aPlainKeyStaysReadable() {
        assertThat(names.claim(claim("order:42")).toString()).isEqualTo("reactivelock/order:42/AbC-_9.0.1");
    }

    @Test
    void whateverCouldBeMistakenIsEncoded() {
        assertThat(names.lock("a/b").toString()).isEqualTo("reactivelock/a%2Fb/");
        assertThat(names.lock("!x").toString()).isEqualTo("reactivelock/%21x/");
        assertThat(names.lock("%2F").toString()).isEqualTo("reactivelock/%252F/");
        assertThat(names.lock("\u00e9\u0000 ").toString()).isEqualTo("reactivelock/%C3%A9%00%20/");
    }

    @Test
    void aNameThatNoKeyHasIsNoLocks() {
        assertThat(KeyLayout.key(KeyLayout.bytes("reactivelock/a%2Fb/x.0.1"))).isEqualTo("a/b");
        for (String name : List.of("a+b", "a%2fb", "%zz")) {
            assertThat(KeyLayout.key(KeyLayout.bytes("reactivelock/" + name + "/x.0.1")))
                    .as(name)
                    .isEmpty();
        }
    }

    @Test
    void noLockIsWithinTheRangeOfAnother() {
        List<String> keys = List.of("a", "a/", "a/b", "/", "a%2F", "..", "!", "a!", "A", "\u00e9", "e\u0301");

        for (String one : keys) {
            for (String other : keys) {
                assertThat(names.claim(claim(one)).startsWith(names.lock(other)))
                        .as("'%s' within '%s'", one, other)
                        .isEqualTo(one.equals(other));
            }
            assertThat(names.notice("session").startsWith(names.lock(one))).isFalse();
        }
    }

    @Test
    void aNameTellsItsClaimAlsoBehindANamespace() {
        ByteSequence name = names.claim(claim("a/b"));
        ByteSequence behind = KeyLayout.bytes("apps/shop/").concat(name);

        assertThat(KeyLayout.tail(behind)).isEqualTo("a%2Fb/AbC-_9.0.1");
        assertThat(names.withoutNamespace(behind)).isEqualTo(name);
        assertThat(names.withoutNamespace(name)).isEqualTo(name);
        assertThat(KeyLayout.tail(names.notice("session"))).isEmpty();
    }

    @Test
    void aNameTellsWhatTheClaimTakes() {
        for (Share share : List.of(Share.WHOLE, Share.ONE, Share.permits(1, 1), Share.permits(2, 20))) {
            assertThat(KeyLayout.share(names.claim(claim("a.b.c/d"), share))).isEqualTo(share);
        }
        assertThat(names.claim(claim("a"), Share.WHOLE)).isEqualTo(names.claim(claim("a")));
        assertThat(names.claim(claim("a"), Share.permits(2, 20)).toString()).endsWith("/AbC-_9.0.1.2.20");
    }

    @Test
    void theNameOfARecallableClaimTellsTheSameButThat() {
        ByteSequence name = KeyLayout.recallable(names.claim(claim("a.r")));

        assertThat(name.toString()).isEqualTo("reactivelock/a.r/AbC-_9.0.1.r");
        assertThat(KeyLayout.share(name)).isEqualTo(Share.WHOLE);
        assertThat(KeyLayout.key(name)).isEqualTo("a.r");
        assertThat(KeyLayout.session(name)).isEqualTo("AbC-_9");
        assertThat(KeyLayout.tail(KeyLayout.recalls(names.notice("session")))).isEmpty();
    }

    @Test
    void whatANameDoesNotTellPlainlyIsTheWhole() {
        for (String end : List.of("", ".2", ".x", ".1.", ".3.2", ".0.2", ".1.2147483647", ".1.2.3", ".1.99999999999")) {
            ByteSequence name = names.claim(claim("a")).concat(KeyLayout.bytes(end));

            assertThat(KeyLayout.share(name)).as(end).isEqualTo(Share.WHOLE);
        }
    }

    @Test
    void aPrefixThatCouldMeanAnotherOnesLocksIsRefused() {
        for (String bad : List.of("", "a/b", "a b", "x".repeat(65), "\u00e9")) {
            assertThatThrownBy(() -> EtcdBackendOptions.defaults().withPrefix(bad))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("'" + bad + "'");
        }
        assertThat(EtcdBackendOptions.defaults().withPrefix("shop-1").prefix()).isEqualTo("shop-1");
    }

    @Test
    void anImpatientCommandIsRefused() {
        assertThatThrownBy(() -> EtcdBackendOptions.defaults().withCommandTimeout(Duration.ofMillis(9)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("PT0.009S");
    }
}
