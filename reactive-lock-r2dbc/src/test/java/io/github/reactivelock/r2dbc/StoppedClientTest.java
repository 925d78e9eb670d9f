package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.state.Share;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryMetadata;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/** A client that stops between the statements of a transaction and its end, and whose connection stays open. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class StoppedClientTest {

    private static final R2dbcBackendOptions BRIEF = R2dbcBackendOptions.defaults()
            .withCommandTimeout(Duration.ofSeconds(5))
            .withoutNotifications();

    private final List<Databases> databases = new ArrayList<>();
    private final List<R2dbcLockBackend> backends = new ArrayList<>();

    @BeforeAll
    void start() {
        databases.addAll(List.of(Databases.postgres(), Databases.mariaDb("mariadb")));
        databases.forEach(Databases::createTables);
    }

    @AfterEach
    void closeBackends() {
        backends.forEach(backend -> backend.close().block(Databases.LIMIT));
        backends.clear();
    }

    @AfterAll
    void stop() {
        databases.forEach(Databases::close);
    }

    Stream<Databases> databases() {
        return databases.stream();
    }

    private R2dbcLockBackend kept(R2dbcLockBackend backend) {
        backends.add(backend);
        return backend;
    }

    /**
     * The driver's connections. From the end of a transaction with a certain statement on nothing is said over one, not
     * even that it is closed.
     */
    private static final class Stopping implements ConnectionFactory {

        private final ConnectionFactory real;
        private final String statement;
        private final boolean commitsByHand;
        private final AtomicBoolean stops = new AtomicBoolean();
        private final CompletableFuture<Boolean> stopped = new CompletableFuture<>();

        Stopping(ConnectionFactory real, String statement, boolean commitsByHand) {
            this.real = real;
            this.statement = statement;
            this.commitsByHand = commitsByHand;
        }

        @Override
        public Publisher<? extends Connection> create() {
            return Mono.from(real.create())
                    .flatMap(opened -> commitsByHand
                            ? Mono.from(opened.setAutoCommit(false)).thenReturn((Connection) opened)
                            : Mono.just((Connection) opened))
                    .map(this::stopping);
        }

        private Connection stopping(Connection opened) {
            AtomicBoolean meant = new AtomicBoolean();
            AtomicBoolean silent = new AtomicBoolean();
            return (Connection) Proxy.newProxyInstance(
                    Stopping.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, args) -> {
                        if (method.getName().equals("createStatement")) {
                            meant.set(meant.get() || (stops.get() && ((String) args[0]).contains(statement)));
                        }
                        if (method.getName().equals("commitTransaction") && meant.get()) {
                            silent.set(true);
                            stopped.complete(true);
                        }
                        if (silent.get() && method.getReturnType().equals(Publisher.class)) {
                            return Mono.never();
                        }
                        try {
                            return method.invoke(opened, args);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
        }

        @Override
        public ConnectionFactoryMetadata getMetadata() {
            return real.getMetadata();
        }

        /** Begins something whose transaction never ends. */
        void stopIn(Mono<?> command) {
            stops.set(true);
            var unused = command.onErrorComplete().subscribe();
            assertThat(stopped.orTimeout(Databases.LIMIT.toSeconds(), TimeUnit.SECONDS)
                            .join())
                    .isTrue();
        }
    }

    private static Claim claim(Share share) {
        return new Claim(
                UUID.randomUUID().toString(),
                UUID.randomUUID().toString(),
                "me",
                Duration.ofSeconds(60),
                Claim.Mode.QUEUE,
                Claim.Keeping.RENEWED,
                share);
    }

    private static Claim another(Claim claim) {
        return new Claim(
                claim.key(),
                UUID.randomUUID().toString(),
                "me",
                claim.lease(),
                claim.mode(),
                claim.keeping(),
                claim.share());
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void theKeysOfSharesThatItRenewedServeOthersSoon(Databases database) {
        Stopping factory = new Stopping(database.factory(), "UPDATE reactive_lock_share ", false);
        R2dbcLockBackend stopping = kept(R2dbcLockBackend.using(factory, BRIEF));
        R2dbcLockBackend other = kept(database.backend());
        Claim share = claim(Share.permits(1, 2));
        assertThat(stopping.claim(share).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Granted.class);

        factory.stopIn(stopping.renew(List.of(share)));

        assertThat(other.claim(another(share)).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Granted.class);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aKeyWhoseRowItWasToCleanAwayServesOthersSoon(Databases database) {
        Stopping factory = new Stopping(database.factory(), "FROM reactive_lock ", false);
        R2dbcLockBackend stopping = kept(R2dbcLockBackend.using(factory, BRIEF));
        R2dbcLockBackend other = kept(database.backend());
        Claim used = claim(Share.WHOLE);
        assertThat(other.claim(used).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Granted.class);
        assertThat(other.release(used).block(Databases.LIMIT)).isTrue();

        factory.stopIn(stopping.clean(Duration.ZERO));

        assertThat(other.claim(another(used)).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Granted.class);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aKeyOverAConnectionThatCommitsByHandServesOthersSoon(Databases database) {
        Stopping factory = new Stopping(database.factory(), "UPDATE reactive_lock ", true);
        R2dbcLockBackend stopping = kept(R2dbcLockBackend.using(factory, BRIEF));
        R2dbcLockBackend other = kept(database.backend());
        Claim held = claim(Share.WHOLE);
        assertThat(stopping.claim(held).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Granted.class);

        factory.stopIn(stopping.release(held));

        assertThat(other.claim(another(held)).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Queued.class);
    }
}
