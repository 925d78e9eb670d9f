package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockListener;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockRequest;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.testservers.TcpProxy;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A release that was carried out, and whose answer was lost. */
class LostReleaseTest {

    static Stream<Named<Supplier<Databases>>> databases() {
        return Stream.of(
                Named.of("PostgreSQL", Databases::postgres), Named.of("MariaDB", () -> Databases.mariaDb("mariadb")));
    }

    /** Said again it finds nothing, because the first one was carried out. */
    @ParameterizedTest
    @MethodSource("databases")
    void itIsNoLoss(Supplier<Databases> kind) {
        AtomicInteger losses = new AtomicInteger();
        try (Databases database = kind.get();
                TcpProxy proxy = TcpProxy.to(database.port())) {
            database.createTables();
            R2dbcLockBackend direct = database.backend();
            LockClient client = LockClient.builder(R2dbcLockBackend.connect(
                            database.through(proxy).factory(), Databases.PATIENT.withConnections(1)))
                    .commandTimeout(Databases.LIMIT)
                    .listener(new LockListener() {
                        @Override
                        public void lost(LockRequest request, LockLostException loss) {
                            losses.incrementAndGet();
                        }
                    })
                    .build();
            // So that its connection knows the statements, and a release is one message.
            client.acquire("warm up").flatMap(LockHandle::release).block(Databases.LIMIT);
            LockHandle held = client.acquire("a").block(Databases.LIMIT);

            proxy.dropReplies();
            CompletableFuture<Void> released = held.release().toFuture();
            Databases.until(
                    "it is carried out",
                    () -> direct.inspect("a").block(Databases.LIMIT).isFree());
            proxy.mend();

            assertThatThrownBy(() -> released.orTimeout(Databases.LIMIT.toSeconds(), TimeUnit.SECONDS)
                            .join())
                    .hasCauseInstanceOf(LockUnavailableException.class);
            client.acquire("a").flatMap(LockHandle::release).block(Databases.LIMIT);
            client.close().block(Databases.LIMIT);
            direct.close().block(Databases.LIMIT);
        }
        assertThat(losses).hasValue(0);
    }
}
