package io.github.reactivelock.zookeeper;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.testservers.TcpProxy;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.apache.curator.framework.CuratorFramework;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Clients behind a proxy that can break their connections, lose answers, and make them give up a session. */
abstract class ProxiedFixture extends Fixture {

    TcpProxy proxy;

    @BeforeEach
    void putAProxyBetween() {
        proxy = TcpProxy.to(server.getPort());
    }

    @AfterEach
    void removeTheProxy() {
        // Those behind it end their sessions through it.
        closeAll();
        proxy.close();
    }

    String proxied() {
        return "127.0.0.1:" + proxy.port();
    }

    ZooKeeperLockBackend behindProxy(Duration session) {
        return ZooKeeperLockBackend.connect(
                proxied(), ZooKeeperBackendOptions.defaults().withSessionTimeout(session));
    }

    /** A command that is to fail does so before a case takes long, and a slow one has its answer. */
    ZooKeeperLockBackend soonGivingUp() {
        return ZooKeeperLockBackend.connect(
                proxied(),
                patient().withCommandTimeout(Duration.ofSeconds(5)).withSessionTimeout(Duration.ofSeconds(40)));
    }

    /**
     * Curator drops its handle without ending the session, which the server keeps for some time. The new handle
     * connects only when the old one is silent: Curator takes what the old one says for the new one's word, and would
     * wait for a connection that it has.
     */
    void giveUpTheSession(CuratorFramework users) throws Exception {
        CompletableFuture<Thread> events = new CompletableFuture<>();
        users.checkExists()
                .inBackground((client, event) -> events.complete(Thread.currentThread()))
                .forPath("/");
        Thread ofTheOldHandle = ZooKeepers.get(events);

        proxy.cut();
        users.getZookeeperClient().getZooKeeper().getTestable().injectSessionExpiration();
        ZooKeepers.until("the old handle is silent", () -> !ofTheOldHandle.isAlive());
        proxy.mend();
        ZooKeepers.until("Curator is connected", users.getZookeeperClient()::isConnected);
    }

    /** The store has made the claim's node when this returns, and no answer arrives until the proxy is mended. */
    CompletableFuture<ClaimResult> claimWithoutAnswer(ZooKeeperLockBackend backend, Claim claim) throws Exception {
        makeTheLock();
        ZooKeepers.get(backend.inspect(key).retry());
        proxy.dropReplies();
        CompletableFuture<ClaimResult> answer = backend.claim(claim).toFuture();
        ZooKeepers.until("it is made", () -> ZooKeepers.claims(zookeeper).size() == 1);
        return answer;
    }

    /**
     * As {@link #claimWithoutAnswer}, over a client of the application, which is asked for the number of names first.
     */
    CompletableFuture<ClaimResult> claimOfAClientHandedInWithoutAnswer(ZooKeeperLockBackend backend, Claim claim)
            throws Exception {
        makeTheLock();
        ZooKeepers.get(backend.inspect(key).retry());
        proxy.delay(Duration.ofMillis(500)); // so that the answer to the creation is still on its way
        long before = proxy.roundTrips();
        CompletableFuture<ClaimResult> answer = backend.claim(claim).toFuture();
        ZooKeepers.until("the creation is asked for", () -> proxy.roundTrips() >= before + 2);
        proxy.dropReplies();
        proxy.delay(Duration.ZERO);
        ZooKeepers.until("it is made", () -> ZooKeepers.claims(zookeeper).size() == 1);
        return answer;
    }

    /**
     * So that the next claim on it takes one command. It is no container: the server removes an empty one within a
     * second in these tests, and the answer which says that it is missing would be lost.
     */
    private void makeTheLock() throws Exception {
        zookeeper.create().creatingParentContainersIfNeeded().forPath("/reactivelock/" + key);
    }
}
