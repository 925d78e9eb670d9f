package io.github.reactivelock.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.redis.RedisScript;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.resource.ClientResources;
import io.netty.util.concurrent.ImmediateEventExecutor;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** An Error, and not an exception, wherever the driver is called: its caller hears of it and the others go on. */
class ErrorsTest {

    private final AtomicInteger unanswered = new AtomicInteger();
    private final List<Throwable> thrown = new ArrayList<>();

    @Test
    void aCommandThatThrowsAnErrorFailsAndTheNextOnesAreSent() {
        Outbox outbox = new Outbox(String::hashCode);
        outbox.open(connection(), commands());
        thrown.add(new NoClassDefFoundError("gone"));

        TestSubscriber<List<Object>> first = send(outbox, "a");
        TestSubscriber<List<Object>> second = send(outbox, "b");

        assertThat(first.expectTerminalError()).isInstanceOf(NoClassDefFoundError.class);
        assertThat(second.getReceivedOnNext()).hasSize(1);
        assertThat(unanswered).hasValue(0);
    }

    @Test
    void aSlotThatCannotBeToldFailsNoCall() {
        Outbox outbox = new Outbox(key -> {
            throw new StackOverflowError("of a slot");
        });
        outbox.open(connection(), commands());

        assertThat(send(outbox, "a").getReceivedOnNext()).hasSize(1);
        assertThat(send(outbox, "b").getReceivedOnNext()).hasSize(1);
    }

    @Test
    void anOpeningErrorReachesAllWaitersAndTheNextUseTriesAgain() {
        AtomicInteger tries = new AtomicInteger();
        LazyConnection<StatefulRedisConnection<String, String>> lazy = new LazyConnection<>(() -> {
            if (tries.getAndIncrement() == 0) {
                throw new ExceptionInInitializerError("of the driver");
            }
            return CompletableFuture.completedFuture(connection());
        });
        List<Object> told = new ArrayList<>();

        lazy.use(told::add, told::add);
        lazy.use(told::add, told::add);

        assertThat((Throwable) told.get(0)).hasCauseInstanceOf(ExceptionInInitializerError.class);
        assertThat(told.get(1)).isInstanceOf(StatefulRedisConnection.class);
    }

    @Test
    void aUseThatThrowsAnErrorKeepsTheConnectionFromNoOther() {
        CompletableFuture<StatefulRedisConnection<String, String>> opened = new CompletableFuture<>();
        LazyConnection<StatefulRedisConnection<String, String>> lazy = new LazyConnection<>(() -> opened);
        List<Object> told = new ArrayList<>();
        lazy.use(
                open -> {
                    throw new AssertionError("of a use");
                },
                told::add);
        lazy.use(told::add, told::add);

        opened.complete(connection());
        lazy.use(told::add, told::add);

        assertThat(told).hasSize(2).allMatch(StatefulRedisConnection.class::isInstance);
    }

    private TestSubscriber<List<Object>> send(Outbox outbox, String key) {
        TestSubscriber<List<Object>> answer = TestSubscriber.create();
        Mono.<List<Object>>create(sink -> {
                    unanswered.incrementAndGet();
                    outbox.send(new Evaluation(
                            RedisScript.lock(), List.of(key), List.of("inspect"), sink, unanswered, () -> {}));
                })
                .subscribe(answer);
        return answer;
    }

    /** Answers every script with an empty list, unless there is something to throw. */
    @SuppressWarnings("unchecked")
    private RedisClusterAsyncCommands<String, String> commands() {
        return (RedisClusterAsyncCommands<String, String>) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {RedisClusterAsyncCommands.class},
                (proxy, method, args) -> {
                    if (!thrown.isEmpty()) {
                        throw thrown.remove(0);
                    }
                    AsyncCommand<String, String, Object> answered =
                            new AsyncCommand<>(new Command<>(CommandType.EVALSHA, null));
                    answered.complete((Object) List.of());
                    return answered;
                });
    }

    @SuppressWarnings("unchecked")
    private StatefulRedisConnection<String, String> connection() {
        ClientResources resources = (ClientResources) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {ClientResources.class},
                (proxy, method, args) -> ImmediateEventExecutor.INSTANCE);
        return (StatefulRedisConnection<String, String>) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {StatefulRedisConnection.class},
                (proxy, method, args) -> switch (method.getName()) {
                    case "getResources" -> resources;
                    case "toString" -> "connection";
                    case "hashCode" -> 1;
                    default -> proxy == (args == null ? null : args[0]);
                });
    }
}
