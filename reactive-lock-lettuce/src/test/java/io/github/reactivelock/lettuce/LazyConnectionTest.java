package io.github.reactivelock.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class LazyConnectionTest {

    private final List<CompletableFuture<StatefulRedisConnection<String, String>>> openings = new ArrayList<>();
    private final LazyConnection<StatefulRedisConnection<String, String>> lazy = new LazyConnection<>(() -> {
        openings.add(new CompletableFuture<>());
        return openings.get(openings.size() - 1);
    });
    private final List<String> heard = new ArrayList<>();

    /**
     * As a stream of signals does that is subscribed to again in its error: it was refused for ever, and kept the
     * thread.
     */
    @Test
    void aUseThatAsksAgainWhenItIsRefusedOpensAnew() {
        lazy.use(
                connection -> heard.add("first used"),
                refusal -> lazy.use(
                        connection -> heard.add("again used"), again -> heard.add("again: " + again.getMessage())));
        lazy.use(connection -> heard.add("second used"), refusal -> heard.add("second: " + refusal.getMessage()));

        openings.get(0).completeExceptionally(new RedisConnectionException("too slow"));

        assertThat(heard).containsExactly("second: too slow");
        assertThat(openings).hasSize(2);
        openings.get(1).completeExceptionally(new RedisConnectionException("too slow again"));
        assertThat(heard).containsExactly("second: too slow", "again: too slow again");
    }
}
