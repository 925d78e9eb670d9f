package io.github.reactivelock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RedisBackendOptionsTest {

    @Test
    void thePrefixIsReactivelockUnlessSaidOtherwise() {
        assertThat(RedisBackendOptions.defaults().prefix()).isEqualTo("reactivelock");
        assertThat(RedisBackendOptions.defaults().withPrefix("shop.v2").prefix())
                .isEqualTo("shop.v2");
        assertThat(RedisBackendOptions.defaults().withPrefix("shop:locks:").prefix())
                .isEqualTo("shop:locks:");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "a!b", "{a}", "a{", "a b", "é", "a*"})
    void aPrefixThatCouldMeetAnotherIsRefusedByName(String prefix) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RedisBackendOptions.defaults().withPrefix(prefix))
                .withMessageContaining("'" + prefix + "'");
    }

    @Test
    void oneChangeKeepsTheOthers() {
        RedisBackendOptions options = RedisBackendOptions.defaults()
                .withReplicas(2, Duration.ofMillis(50))
                .withShardedChannels()
                .withPrefix("p");

        assertThat(options.replicas()).isEqualTo(2);
        assertThat(options.replicaTimeout()).isEqualTo(Duration.ofMillis(50));
        assertThat(options.hasShardedChannels()).isTrue();
        assertThat(RedisBackendOptions.defaults().replicas()).isZero();
    }

    @Test
    void replicasThatNobodyCouldWaitForAreRefused() {
        RedisBackendOptions options = RedisBackendOptions.defaults();

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
        RedisBackendOptions options = RedisBackendOptions.defaults();

        assertThatIllegalArgumentException()
                .isThrownBy(() -> new RedisLockBackend(connection, options.withReplicas(1, Duration.ofSeconds(1))) {})
                .withMessageContaining("fake:1");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new RedisLockBackend(connection, options.withShardedChannels()) {})
                .withMessageContaining("fake:1");
    }
}
