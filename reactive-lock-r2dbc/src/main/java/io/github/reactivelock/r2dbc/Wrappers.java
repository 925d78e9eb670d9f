package io.github.reactivelock.r2dbc;

import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.Wrapped;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.util.context.ContextView;

/**
 * What an application puts around a factory, at any depth: wrappers, a pool, Spring's proxy; and the transactions of
 * Spring around a call, recognised by name, because this library does not depend on Spring.
 */
final class Wrappers {

    private static final String CONTEXT = "org.springframework.transaction.reactive.TransactionContext";
    private static final String PROXY = "org.springframework.r2dbc.connection.TransactionAwareConnectionFactoryProxy";
    private static final String LENT = "io.r2dbc.pool.PooledConnection";

    private Wrappers() {}

    /** The thing itself and what it wraps, outermost first. */
    private static List<Object> layers(Object outermost) {
        List<Object> layers = new ArrayList<>();
        Object layer = outermost;
        while (layer != null && layers.size() < 64) {
            layers.add(layer);
            layer = layer instanceof Wrapped<?> wrapped ? wrapped.unwrap() : null;
        }
        return layers;
    }

    /**
     * The factory under one that lends the connection of the transaction around: commands here commit by themselves.
     */
    static ConnectionFactory outside(ConnectionFactory factory) {
        List<Object> layers = layers(factory);
        for (int i = layers.size() - 2; i >= 0; i--) {
            if (isProxy(layers.get(i).getClass()) && layers.get(i + 1) instanceof ConnectionFactory target) {
                return target;
            }
        }
        return factory;
    }

    private static boolean isProxy(Class<?> type) {
        for (Class<?> each = type; each != null; each = each.getSuperclass()) {
            if (each.getName().equals(PROXY)) {
                return true;
            }
        }
        return false;
    }

    /** What the innermost pool opens its connections with; without a pool, the factory itself. */
    static ConnectionFactory unpooled(ConnectionFactory factory) {
        List<Object> layers = layers(factory);
        for (int i = layers.size() - 2; i >= 0; i--) {
            if (layers.get(i) instanceof ConnectionPool && layers.get(i + 1) instanceof ConnectionFactory target) {
                return target;
            }
        }
        return factory;
    }

    /** Whether a connection belongs to a pool, which a wrapper may hide. */
    static boolean isLent(Connection connection) {
        return layers(connection).stream()
                .anyMatch(layer -> layer.getClass().getName().equals(LENT));
    }

    /** Whether a transaction is open over this factory, or over one that wraps it or that it wraps. */
    static boolean isInTransaction(ContextView context, ConnectionFactory factory) {
        List<Object> layers = downToThePool(factory);
        return context.stream()
                .anyMatch(entry -> isTransaction(entry)
                        && resources(entry.getValue()).stream()
                                .flatMap(resource -> downToThePool(resource).stream())
                                .anyMatch(layer -> layers.stream().anyMatch(own -> own == layer)));
    }

    /** Two pools may have their connections from one factory. */
    private static List<Object> downToThePool(Object outermost) {
        List<Object> layers = layers(outermost);
        for (int i = 0; i < layers.size(); i++) {
            if (layers.get(i) instanceof ConnectionPool) {
                return layers.subList(0, i + 1);
            }
        }
        return layers;
    }

    /** Whether a transaction is open at all, over any resource. */
    static boolean isInAnyTransaction(ContextView context) {
        return context.stream()
                .anyMatch(entry -> isTransaction(entry)
                        && Boolean.TRUE.equals(asked(entry.getValue(), "isActualTransactionActive")));
    }

    private static boolean isTransaction(Map.Entry<Object, Object> entry) {
        return entry.getKey() instanceof Class<?> type && type.getName().equals(CONTEXT);
    }

    private static Set<?> resources(Object transaction) {
        return asked(transaction, "getResources") instanceof Map<?, ?> resources
                ? resources.keySet()
                : Collections.emptySet();
    }

    private static @Nullable Object asked(Object transaction, String question) {
        try {
            return transaction.getClass().getMethod(question).invoke(transaction);
        } catch (ReflectiveOperationException noneThatWeKnow) {
            return null;
        }
    }
}
