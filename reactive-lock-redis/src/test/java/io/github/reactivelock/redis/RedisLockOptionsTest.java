package io.github.reactivelock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RedisLockOptionsTest {

    @Test
    void thePrefixIsReactivelockUnlessSaidOtherwise() {
        assertThat(RedisLockOptions.defaults().prefix()).isEqualTo("reactivelock");
        assertThat(RedisLockOptions.defaults().withPrefix("shop.v2").prefix()).isEqualTo("shop.v2");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "a:b", "{a}", "a b", "é", "a*"})
    void aPrefixThatCouldMeetAnotherIsRefusedByName(String prefix) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RedisLockOptions.defaults().withPrefix(prefix))
                .withMessageContaining("'" + prefix + "'");
    }
}
