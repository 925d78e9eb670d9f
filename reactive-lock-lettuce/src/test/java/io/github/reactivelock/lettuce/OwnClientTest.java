package io.github.reactivelock.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import io.lettuce.core.StaticCredentialsProvider;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class OwnClientTest {

    @Test
    void credentialsOfAUriAreResolvedBeforeAnythingIsOpened() {
        RedisURI one = OwnClient.parse("redis://me:secret@127.0.0.1:6379");
        RedisURI set = OwnClient.parse("redis-sentinel://me:secret@127.0.0.1:26379,127.0.0.1:26380/0#primary");

        assertThat(Stream.concat(Stream.of(one, set), set.getSentinels().stream()))
                .extracting(RedisURI::getCredentialsProvider)
                .hasSize(4)
                .hasOnlyElementsOfType(RedisCredentialsProvider.ImmediateRedisCredentialsProvider.class);
        assertThat(one.getCredentialsProvider()).isInstanceOfSatisfying(StaticCredentialsProvider.class, resolved -> {
            assertThat(resolved.resolveCredentialsNow().getUsername()).isEqualTo("me");
            assertThat(resolved.resolveCredentialsNow().getPassword()).isEqualTo("secret".toCharArray());
        });
    }

    @Test
    void aNettyThatDoesNotFitIsNamed() {
        AtomicReference<Throwable> refusal = new AtomicReference<>();
        new LazyConnection<StatefulRedisConnection<String, String>>(() -> {
                    throw new NoClassDefFoundError("io/netty/channel/MultiThreadIoEventLoopGroup");
                })
                .use(connection -> {}, refusal::set);

        assertThat(refusal.get())
                .hasMessageContaining("Lettuce 7")
                .hasMessageContaining("does not work with Netty 4.2")
                .hasMessageContaining("MultiThreadIoEventLoopGroup");
    }
}
