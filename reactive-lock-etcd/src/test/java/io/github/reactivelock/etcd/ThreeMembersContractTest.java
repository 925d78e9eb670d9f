package io.github.reactivelock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.Client;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.testkit.Feature;
import io.github.reactivelock.testkit.LockBackendContract;
import io.github.reactivelock.testservers.EtcdServer;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The contract on an etcd of three members, each client connected to all of them. */
class ThreeMembersContractTest extends LockBackendContract {

    private static List<EtcdServer> members;
    private static String[] endpoints;
    private static Client users;

    @BeforeAll
    static void start() {
        members = EtcdServer.cluster(3);
        endpoints = members.stream().map(EtcdServer::uri).toArray(String[]::new);
        users = Client.builder().endpoints(endpoints).build();
        assertThat(Etcds.works(users)).isTrue();
    }

    @AfterAll
    static void stop() {
        users.close();
        members.forEach(EtcdServer::close);
    }

    @Override
    protected Set<Feature> lacking() {
        return Set.of(Feature.AGE_OF_HOLDS, Feature.AGE_OF_WAITERS);
    }

    @Override
    protected LockBackend newBackend() {
        return EtcdFixture.patient(endpoints);
    }

    @Override
    protected void assertStoreIsClean() {
        Etcds.assertNoClaims(users);
    }
}
