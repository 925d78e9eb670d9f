package io.github.reactivelock.r2dbc;

import io.r2dbc.spi.Batch;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryMetadata;
import io.r2dbc.spi.Statement;
import io.r2dbc.spi.Wrapped;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A driver whose connections tell what is asked over them.
 *
 * @param real makes the connections
 * @param statements the texts that were carried out, in their order; those of a batch are one, and a rollback is none
 * @param opened how many connections were made, or tried to
 * @param refusal an error instead of a statement's answer, empty for none
 */
record Tapped(
        ConnectionFactory real, Queue<String> statements, AtomicInteger opened, Function<String, Mono<Void>> refusal)
        implements ConnectionFactory {

    static Tapped of(ConnectionFactory real) {
        return of(real, text -> Mono.empty());
    }

    static Tapped of(ConnectionFactory real, Function<String, Mono<Void>> refusal) {
        return new Tapped(real, new ConcurrentLinkedQueue<>(), new AtomicInteger(), refusal);
    }

    @Override
    public Publisher<? extends Connection> create() {
        return Mono.defer(() -> {
            opened.incrementAndGet();
            return Mono.from(real.create()).map(this::tapped);
        });
    }

    private Connection tapped(Connection opened) {
        return (Connection) proxy(opened, Connection.class, (method, args) -> {
            Object made = call(opened, method, args);
            if (method.getName().equals("rollbackTransaction")) {
                return refusal.apply("ROLLBACK").then(Mono.from((Publisher<?>) made));
            }
            return made instanceof Batch batch
                    ? tapped(batch)
                    : made instanceof Statement statement ? tapped(statement, (String) args[0]) : made;
        });
    }

    private Object tapped(Batch made) {
        List<String> texts = new ArrayList<>();
        return proxy(made, Batch.class, (method, args) -> {
            if (method.getName().equals("execute")) {
                String text = String.join(";", texts);
                statements.add(text);
                return refusal.apply(text).thenMany(Flux.defer(() -> (Publisher<?>) made.execute()));
            }
            if (method.getName().equals("add")) {
                texts.add((String) args[0]);
            }
            Object answer = call(made, method, args);
            return answer == made ? null : answer;
        });
    }

    private Object tapped(Statement made, String text) {
        return proxy(made, Statement.class, (method, args) -> {
            if (method.getName().equals("execute")) {
                statements.add(text);
                return refusal.apply(text).thenMany(Flux.defer(() -> (Publisher<?>) made.execute()));
            }
            Object answer = call(made, method, args);
            return answer == made ? null : answer;
        });
    }

    private interface Call {
        Object of(Method method, Object[] args) throws Throwable;
    }

    private static Object proxy(Object real, Class<?> type, Call call) {
        return Proxy.newProxyInstance(
                Tapped.class.getClassLoader(), new Class<?>[] {type, Wrapped.class}, (proxy, method, args) -> {
                    if (method.getName().equals("unwrap")) {
                        return args == null || ((Class<?>) args[0]).isInstance(real) ? real : null;
                    }
                    Object answer = call.of(method, args);
                    return answer == null && type.isAssignableFrom(method.getReturnType()) ? proxy : answer;
                });
    }

    private static Object call(Object real, Method method, Object[] args) throws Throwable {
        try {
            return method.invoke(real, args);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    @Override
    public ConnectionFactoryMetadata getMetadata() {
        return real.getMetadata();
    }
}
