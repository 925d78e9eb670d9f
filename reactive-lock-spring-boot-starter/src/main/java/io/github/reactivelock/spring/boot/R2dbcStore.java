package io.github.reactivelock.spring.boot;

import io.github.reactivelock.r2dbc.R2dbcBackendOptions;
import io.github.reactivelock.r2dbc.R2dbcLockBackend;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.support.StoreUrl;
import io.github.reactivelock.spring.boot.ReactiveLockProperties.Schema;
import io.github.reactivelock.spring.boot.ReactiveLockProperties.Sharing;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.Wrapped;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import reactor.util.retry.Retry;

/**
 * A database, over the application's pool or over a pool of the locks' own with connections made as for the
 * application's.
 */
final class R2dbcStore implements StoreSource {

    /** For a database that is just starting; the tables themselves take milliseconds. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Beans<ConnectionFactory> factories;

    R2dbcStore(ListableBeanFactory beans) {
        this.factories = new Beans<>(beans, ConnectionFactory.class);
    }

    @Override
    public Store store() {
        return Store.R2DBC;
    }

    @Override
    public @Nullable String found() {
        return factories.exist() ? factories.toString() : null;
    }

    @Override
    public LockBackend ofApplication(ReactiveLockProperties properties) {
        ConnectionFactory factory = factories.only();
        R2dbcBackendOptions options = options(properties);
        boolean isEmbedded = "H2".equals(factory.getMetadata().getName());
        return withTables(
                properties.client() == Sharing.SHARED
                        ? R2dbcLockBackend.using(factory, options)
                        : R2dbcLockBackend.connect(unpooled(factory), options),
                properties.initializeSchema(),
                isEmbedded);
    }

    @Override
    public LockBackend ofUrl(String url, ReactiveLockProperties properties) {
        return withTables(
                R2dbcLockBackend.connect(asR2dbc(url), options(properties)),
                properties.initializeSchema(),
                url.startsWith("r2dbc:h2:"));
    }

    /** The command line takes the address of a database without "r2dbc:" too, and a password with an at sign. */
    static String asR2dbc(String url) {
        StoreUrl parts = StoreUrl.parse(url);
        String driver = parts.name().startsWith("r2dbc")
                ? parts.name()
                : "r2dbc:" + parts.name().replaceFirst("^postgres$", "postgresql");
        return parts.text(driver, parts.hosts());
    }

    private static R2dbcBackendOptions options(ReactiveLockProperties properties) {
        return properties.prefixed(R2dbcBackendOptions.defaults(), R2dbcBackendOptions::withPrefix);
    }

    /** What the application's pool makes connections with; wrappers, such as for transactions, are taken off. */
    static ConnectionFactory unpooled(ConnectionFactory given) {
        Object wrapped = given;
        while (wrapped instanceof Wrapped<?> wrapper) {
            Object inner = wrapper.unwrap();
            if (wrapped instanceof ConnectionPool && inner instanceof ConnectionFactory factory) {
                return factory;
            }
            wrapped = inner;
        }
        return given;
    }

    /** For what keeps nothing but keys of {@code Once} in the database of the application. */
    static R2dbcBackendOptions withTables(ConnectionFactory factory, ReactiveLockProperties properties) {
        R2dbcBackendOptions options = options(properties);
        boolean isEmbedded = "H2".equals(factory.getMetadata().getName());
        withTables(R2dbcLockBackend.using(factory, options), properties.initializeSchema(), isEmbedded)
                .close()
                .block(PATIENCE);
        return options;
    }

    /**
     * Before anything can ask for a lock, on the thread that starts the application, as Spring Boot runs its scripts.
     */
    private static LockBackend withTables(R2dbcLockBackend backend, Schema schema, boolean isEmbedded) {
        if (schema == Schema.ALWAYS || (schema == Schema.EMBEDDED && isEmbedded)) {
            try {
                backend.createTables()
                        .retryWhen(Retry.indefinitely().filter(R2dbcStore::isSilence))
                        .block(PATIENCE);
            } catch (RuntimeException failed) {
                backend.close().block(PATIENCE);
                throw new LockConfigurationException(
                        "the tables of the locks could not be created: " + failed.getMessage(),
                        "Mend the connection, or create them by a migration and set"
                                + " reactive-lock.initialize-schema=never.",
                        failed);
            }
        }
        return backend;
    }

    /** The first command of a process may take longer than a command may: driver and database load their classes. */
    private static boolean isSilence(Throwable failure) {
        return failure.getCause() instanceof TimeoutException;
    }
}
