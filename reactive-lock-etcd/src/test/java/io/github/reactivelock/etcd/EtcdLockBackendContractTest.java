package io.github.reactivelock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.Client;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.testkit.Feature;
import io.github.reactivelock.testkit.LockBackendContract;
import io.github.reactivelock.testservers.EtcdServer;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The contract on one etcd. */
class EtcdLockBackendContractTest extends LockBackendContract {

    private static EtcdServer server;
    private static Client users;

    @BeforeAll
    static void start() {
        server = EtcdServer.start();
        users = Client.builder().endpoints(server.uri()).build();
        // Loads a thousand classes, which on a busy machine takes longer than a command may.
        assertThat(Etcds.works(users)).isTrue();
    }

    @AfterAll
    static void stop() {
        users.close();
        server.close();
    }

    @Override
    protected Set<Feature> lacking() {
        return Set.of(Feature.AGE_OF_HOLDS, Feature.AGE_OF_WAITERS);
    }

    @Override
    protected LockBackend newBackend() {
        return EtcdFixture.patient(server.uri());
    }

    @Override
    protected Optional<Lent> lent() {
        return Optional.of(new Lent(EtcdLockBackend.using(users, EtcdFixture.PATIENT), () -> Etcds.works(users)));
    }

    @Override
    protected void assertStoreIsClean() {
        Etcds.assertNoClaims(users);
    }
}
