package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.Share;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryMetadata;
import io.r2dbc.spi.R2dbcNonTransientResourceException;
import io.r2dbc.spi.Wrapped;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/** A connection that breaks after a transaction was committed and before that was answered. */
class LostCommitTest {

    private final AtomicBoolean isLost = new AtomicBoolean();

    /** The driver's connections, of which one loses the answer to a commit. */
    private final class Losing implements ConnectionFactory {

        private final ConnectionFactory real;

        Losing(ConnectionFactory real) {
            this.real = real;
        }

        @Override
        public Publisher<? extends Connection> create() {
            return Mono.from(real.create()).map(this::losing);
        }

        private Connection losing(Connection opened) {
            return (Connection) Proxy.newProxyInstance(
                    Losing.class.getClassLoader(),
                    new Class<?>[] {Connection.class, Wrapped.class},
                    (proxy, method, args) -> {
                        if (method.getName().equals("unwrap")) {
                            return args == null || ((Class<?>) args[0]).isInstance(opened) ? opened : null;
                        }
                        if (method.getName().equals("commitTransaction") && isLost.compareAndSet(true, false)) {
                            return Mono.from(opened.commitTransaction())
                                    .then(Mono.error(() -> new R2dbcNonTransientResourceException("reset")));
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
    }

    private static Claim claim(int units, Duration lease) {
        return new Claim(
                "k",
                UUID.randomUUID().toString(),
                "me",
                lease,
                Claim.Mode.QUEUE,
                Claim.Keeping.RENEWED,
                Share.permits(units, 2));
    }

    /** It would hear of it when it asks by itself, after a third of its lease. */
    @Test
    void whoWasServedBesideTheClaimThatAskedIsToldToAsk() {
        try (Databases database = Databases.postgres()) {
            database.createTables();
            R2dbcLockBackend other = database.backend();
            R2dbcLockBackend one = R2dbcLockBackend.connect(new Losing(database.factory()), Databases.PATIENT);
            Queue<Signal> signals = new ConcurrentLinkedQueue<>();
            var listening = one.signals().subscribe(signals::add, error -> {});
            Databases.until("pushes arrive", () -> signals.contains(new Signal.Reconnected()));
            Claim dead = claim(2, Databases.LIMIT.multipliedBy(2));
            Claim waiting = claim(1, Databases.LIMIT.multipliedBy(2));
            Claim asking = claim(1, Databases.LIMIT.multipliedBy(2));
            assertThat(other.claim(dead).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Granted.class);
            assertThat(one.claim(waiting).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Queued.class);
            assertThat(one.claim(asking).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Queued.class);
            assertThat(database.execute("UPDATE reactive_lock SET lease_end = " + Dialect.POSTGRESQL.now))
                    .as("its lease is over")
                    .isEqualTo(1);

            isLost.set(true);
            assertThat(one.claim(asking).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Granted.class);

            assertThat(isLost).isFalse();
            Databases.until("it is told to ask", () -> signals.contains(new Signal.Recheck("k")));
            assertThat(one.claim(waiting).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Granted.class);
            listening.dispose();
            one.close().block(Databases.LIMIT);
            other.close().block(Databases.LIMIT);
        }
    }

    @Test
    void aShareWhoseReleaseWasCarriedOutIsNotLost() {
        try (Databases database = Databases.postgres()) {
            database.createTables();
            LockClient client =
                    Databases.client(R2dbcLockBackend.connect(new Losing(database.factory()), Databases.PATIENT));
            LockHandle held = client.permits(1, 2).acquire("k").block(Databases.LIMIT);

            isLost.set(true);
            assertThatThrownBy(() -> held.release().block(Databases.LIMIT))
                    .isInstanceOf(LockUnavailableException.class);

            assertThat(isLost).isFalse();
            assertThat(client.inspect("k").block(Databases.LIMIT).isFree()).isTrue();
            client.close().block(Databases.LIMIT);
        }
    }

    /** That nothing was in force would not be true. */
    @Test
    void aForcedReleaseThatWasCarriedOutIsNotKnown() {
        try (Databases database = Databases.postgres()) {
            database.createTables();
            R2dbcLockBackend holder = database.backend();
            R2dbcLockBackend operator = R2dbcLockBackend.connect(new Losing(database.factory()), Databases.PATIENT);
            ClaimResult.Granted held =
                    (ClaimResult.Granted) holder.claim(Databases.claim("k")).block(Databases.LIMIT);

            isLost.set(true);
            assertThatThrownBy(() ->
                            operator.forceRelease("k", held.fencingToken()).block(Databases.LIMIT))
                    .hasMessageContaining("reset");

            assertThat(isLost).isFalse();
            assertThat(holder.inspect("k").block(Databases.LIMIT).isFree()).isTrue();
            operator.close().block(Databases.LIMIT);
            holder.close().block(Databases.LIMIT);
        }
    }
}
