package io.github.reactivelock.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.testservers.RedisServer;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import io.lettuce.core.StaticCredentialsProvider;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ManagedClientTest {

    @Test
    void credentialsOfAUriAreResolvedBeforeAnythingIsOpened() {
        RedisURI one = ManagedClient.parse("redis://me:secret@127.0.0.1:6379");
        RedisURI set = ManagedClient.parse("redis-sentinel://me:secret@127.0.0.1:26379,127.0.0.1:26380/0#primary");

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
    void connectionsHaveNothingThatTakesLongToMakeAndIsNotUsed() {
        ClientResources resources = ClientResources.create();
        try (RedisServer server = RedisServer.start()) {
            RedisURI uri = RedisURI.create(server.uri());
            AsyncClient client = new AsyncClient(resources, uri);

            var commands =
                    client.connectAsync(Utf8.CODEC, uri).toCompletableFuture().join();
            var channels = client.connectPubSubAsync(Utf8.CODEC, uri)
                    .toCompletableFuture()
                    .join();

            assertThat(commands.async().ping().toCompletableFuture().join()).isEqualTo("PONG");
            assertThat(channels.async().ping().toCompletableFuture().join()).isEqualTo("PONG");
            assertThat(Stream.of(commands.sync(), commands.reactive(), channels.sync(), channels.reactive()))
                    .containsOnlyNulls();
            client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
        } finally {
            resources.shutdown().awaitUninterruptibly();
        }
    }
}
