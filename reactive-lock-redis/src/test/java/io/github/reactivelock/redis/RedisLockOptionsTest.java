package io.github.reactivelock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
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

    @Test
    void oneChangeKeepsTheOthers() {
        RedisLockOptions options = RedisLockOptions.defaults()
                .withReplicas(2, Duration.ofMillis(50))
                .withShardedChannels()
                .withPrefix("p");

        assertThat(options.replicas()).isEqualTo(2);
        assertThat(options.replicaTimeout()).isEqualTo(Duration.ofMillis(50));
        assertThat(options.hasShardedChannels()).isTrue();
        assertThat(RedisLockOptions.defaults().replicas()).isZero();
    }

    @Test
    void replicasThatNobodyCouldWaitForAreRefused() {
        RedisLockOptions options = RedisLockOptions.defaults();

        assertThatIllegalArgumentException()
                .isThrownBy(() -> options.withReplicas(0, Duration.ofSeconds(1)))
                .withMessageContaining("0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> options.withReplicas(1, Duration.ZERO))
                .withMessageContaining("PT0S");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> options.withReplicas(1, Duration.ofSeconds(11)))
                .withMessageContaining("PT11S");
    }

    @Test
    void whatAConnectionCannotDoIsRefusedWhenTheBackendIsMade() {
        FakeConnection connection = new FakeConnection();
        RedisLockOptions options = RedisLockOptions.defaults();

        assertThatIllegalArgumentException()
                .isThrownBy(() -> new RedisLockBackend(connection, options.withReplicas(1, Duration.ofSeconds(1))) {})
                .withMessageContaining("fake:1");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new RedisLockBackend(connection, options.withShardedChannels()) {})
                .withMessageContaining("fake:1");
    }
}
