package io.github.reactivelock.consul;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.testkit.Feature;
import io.github.reactivelock.testkit.LockBackendContract;
import io.github.reactivelock.testservers.ConsulServer;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The contract on three servers, each client at another one of them first. */
class ClusterContractTest extends LockBackendContract {

    private static List<ConsulServer> members;
    private static final AtomicInteger CLIENTS = new AtomicInteger();

    @BeforeAll
    static void start() {
        members = ConsulServer.cluster(3);
    }

    @AfterAll
    static void stop() {
        members.forEach(ConsulServer::close);
    }

    @Override
    protected int cancelRaces() {
        return Math.min(200, super.cancelRaces());
    }

    @Override
    protected Set<Feature> lacking() {
        return Set.of(Feature.OUTLASTS_CLIENT, Feature.AGE_OF_HOLDS, Feature.AGE_OF_WAITERS, Feature.BRIEF_OWNERS);
    }

    @Override
    protected LockBackend newBackend() {
        int first = CLIENTS.getAndIncrement();
        String agents = List.of(first, first + 1, first + 2).stream()
                .map(number -> members.get(Math.floorMod(number, 3)).uri())
                .collect(Collectors.joining(","));
        ConsulLockBackend backend = ConsulLockBackend.connect(agents, Consuls.shortLeases());
        // The first connection may take longer than the shortest patience in the contract.
        Consuls.done(backend.inspect("k"));
        return backend;
    }

    @Override
    protected void assertStoreIsClean() {
        assertThat(Consuls.keys(members.get(0))).isEmpty();
    }
}
