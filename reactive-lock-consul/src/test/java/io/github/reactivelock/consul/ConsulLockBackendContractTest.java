package io.github.reactivelock.consul;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.testkit.Feature;
import io.github.reactivelock.testkit.LockBackendContract;
import io.github.reactivelock.testservers.ConsulServer;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import reactor.netty.http.client.HttpClient;

/** The contract on one Consul, with leases that a user may not ask for, so that it does not take half an hour. */
class ConsulLockBackendContractTest extends LockBackendContract {

    private static ConsulServer server;

    @BeforeAll
    static void start() {
        server = ConsulServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Override
    protected Set<Feature> lacking() {
        return Set.of(Feature.OUTLASTS_CLIENT, Feature.AGE_OF_HOLDS, Feature.AGE_OF_WAITERS, Feature.BRIEF_OWNERS);
    }

    @Override
    protected LockBackend newBackend() {
        ConsulLockBackend backend = ConsulLockBackend.connect(server.uri(), Consuls.shortLeases());
        // The first connection may take longer than the shortest patience in the contract.
        Consuls.done(backend.inspect("k"));
        return backend;
    }

    @Override
    protected Optional<Lent> lent() {
        HttpClient users = HttpClient.create();
        return Optional.of(new Lent(
                ConsulLockBackend.using(users, server.uri(), Consuls.shortLeases()),
                () -> Consuls.get(users.get()
                                        .uri(server.uri() + "/v1/status/leader")
                                        .response())
                                .status()
                                .code()
                        == 200));
    }

    @Override
    protected void assertStoreIsClean() {
        assertThat(Consuls.keys(server)).isEmpty();
    }
}
