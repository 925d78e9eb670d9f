package io.github.reactivelock.lettuce;

import static io.github.reactivelock.lettuce.RedisFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.redis.RedisScript;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandType;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What happens while a connection is being opened, to a server that answers no command. */
class SlowOpeningTest {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final CompletableFuture<StatefulRedisConnection<String, String>> opening = new CompletableFuture<>();
    private final Queue<String> asked = new ConcurrentLinkedQueue<>();

    private final StatefulRedisConnection<String, String> connection =
            pretended(StatefulRedisConnection.class, (proxy, method, args) -> commands(method));

    private final RedisAsyncCommands<?, ?> commands = pretended(RedisAsyncCommands.class, (proxy, method, args) -> {
        asked.add(method.getName());
        return new AsyncCommand<>(new Command<>(CommandType.EVALSHA, null));
    });

    private final ConnectionSource<StatefulRedisConnection<String, String>> source =
            pretended(ConnectionSource.class, (proxy, method, args) -> switch (method.getName()) {
                case "commands" -> opening;
                case "scripts" -> commands;
                case "load" -> commands.scriptLoad("a script");
                case "isWatched" -> false;
                case "servers" -> List.of(CompletableFuture.completedStage(connection));
                case "moves", "refusals" -> Flux.never();
                default -> throw new AssertionError(method);
            });

    private @Nullable Object commands(Method method) {
        return method.getName().equals("async") ? commands : null;
    }

    /** It would break the connection, as whoever leaves later does, and with it the questions of those that stay. */
    @Test
    void whoLeavesBeforeItIsOpenAsksReplicasForNothing() {
        ReplicaWait<StatefulRedisConnection<String, String>> replicas = new ReplicaWait<>(source);
        ask(replicas).dispose();
        Disposable staying = ask(replicas);

        opening.complete(connection);

        assertThat(asked).containsExactly("evalsha");
        staying.dispose();
        assertThat(asked).containsExactly("evalsha", "quit");
    }

    private static Disposable ask(ReplicaWait<StatefulRedisConnection<String, String>> replicas) {
        return replicas.eval(RedisScript.lock(), List.of("k"), List.of("renew"), 1, LIMIT)
                .subscribe();
    }

    /**
     * A primary that falls silent between its greeting and its answer to the script: another one may have taken its
     * place.
     */
    @Test
    void aServerThatDoesNotTakeTheScriptIsLeftForAnother() {
        LettuceConnection<StatefulRedisConnection<String, String>> lettuce =
                new LettuceConnection<>(source, Mono.empty());
        Disposable waiting = lettuce.ready().subscribe();

        opening.complete(connection);

        eventually("the connection is dropped", LIMIT, () -> asked.contains("quit"));
        waiting.dispose();
        lettuce.close().block(LIMIT);
    }

    @SuppressWarnings("unchecked")
    private static <T> T pretended(Class<? super T> type, InvocationHandler answers) {
        return (T) Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, answers);
    }
}
