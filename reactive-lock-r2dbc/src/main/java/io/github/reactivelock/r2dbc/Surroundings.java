package io.github.reactivelock.r2dbc;

import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.Wrapped;
import java.util.Map;
import reactor.util.context.ContextView;

/** Transactions of Spring around a call, recognised by name, because this library does not depend on Spring. */
final class Surroundings {

    private static final String CONTEXT = "org.springframework.transaction.reactive.TransactionContext";
    private static final String PROXY = "org.springframework.r2dbc.connection.TransactionAwareConnectionFactoryProxy";

    private Surroundings() {}

    /** The factory under one that lends the connection of the transaction around: commands here commit by themselves. */
    static ConnectionFactory outside(ConnectionFactory factory) {
        return isProxy(factory.getClass())
                        && factory instanceof Wrapped<?> wrapped
                        && wrapped.unwrap() instanceof ConnectionFactory target
                ? target
                : factory;
    }

    private static boolean isProxy(Class<?> type) {
        for (Class<?> each = type; each != null; each = each.getSuperclass()) {
            if (each.getName().equals(PROXY)) {
                return true;
            }
        }
        return false;
    }

    /** Whether a transaction is open over this very factory. */
    static boolean isInTransaction(ContextView context, ConnectionFactory factory) {
        return context.stream()
                .anyMatch(entry -> entry.getKey() instanceof Class<?> type
                        && type.getName().equals(CONTEXT)
                        && hasResource(type, entry.getValue(), factory));
    }

    private static boolean hasResource(Class<?> type, Object transaction, ConnectionFactory factory) {
        try {
            return type.getMethod("getResources").invoke(transaction) instanceof Map<?, ?> resources
                    && resources.containsKey(factory);
        } catch (ReflectiveOperationException noneThatWeKnow) {
            return false;
        }
    }
}
