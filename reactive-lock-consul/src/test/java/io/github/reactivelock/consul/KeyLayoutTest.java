package io.github.reactivelock.consul;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.testkit.OddKeys;
import java.util.List;
import org.junit.jupiter.api.Test;

class KeyLayoutTest {

    private static final KeyLayout NAMES = new KeyLayout("locks");

    @Test
    void differentKeysHaveDifferentNamesThatNeedNoEscaping() {
        List<String> keys = OddKeys.make((before, after) -> before + "common" + after);

        List<String> names = keys.stream().map(NAMES::lock).toList();

        assertThat(names)
                .doesNotHaveDuplicates()
                .allMatch(name -> name.matches("locks/[A-Za-z0-9_:~-][A-Za-z0-9._:~-]*/"));
        assertThat(names.stream().map(NAMES::key).toList()).isEqualTo(keys);
    }

    @Test
    void aTildeOfAKeyIsNoEscape() {
        assertThat(NAMES.lock("a~2Fb")).isEqualTo("locks/a~7E2Fb/");
        assertThat(NAMES.lock("a/b")).isEqualTo("locks/a~2Fb/");
        assertThat(NAMES.key("locks/a~2")).isEmpty();
        assertThat(NAMES.key("locks/a~2/")).isEmpty();
        assertThat(NAMES.key("locks/a~xy/")).isEmpty();
    }

    @Test
    void aNameThatNoKeyHasIsNoLocks() {
        assertThat(NAMES.key("locks/a~2fb/")).isEmpty();
        assertThat(NAMES.key("locks/a%2Fb/")).isEmpty();
        assertThat(NAMES.key("locks/a+b/")).isEmpty();
        assertThat(NAMES.key("locks/.a/")).isEmpty();
    }

    @Test
    void theNamesOfLocksBeginAsTheirKeysDo() {
        assertThat(NAMES.lock("order/42")).startsWith(NAMES.locks("order/"));
        assertThat(NAMES.lock("é")).startsWith(NAMES.locks(""));
    }
}
