package io.github.reactivelock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.state.Share;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.AsyncCallback.Children2Callback;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A claim that only tries is decided in one step: what is refused leaves no trace that others could see. */
class TriesTest extends Fixture {

    private final KeyLayout names = new KeyLayout("reactivelock");
    private CuratorFramework users;
    private ZooKeeperLockBackend trying;
    private ZooKeeperLockBackend other;
    /** Done once before the next line that was read is told. */
    private final AtomicReference<Runnable> between = new AtomicReference<>();

    @BeforeEach
    void connect() throws Exception {
        users = CuratorFrameworkFactory.builder()
                .connectString(server.getConnectString())
                .sessionTimeoutMs(20_000)
                .connectionTimeoutMs(15_000)
                .retryPolicy(new RetryOneTime(100))
                .ensembleTracker(false)
                .zookeeperFactory((servers, timeout, watcher, readOnly) -> new Slow(servers, timeout, watcher))
                .build();
        users.start();
        makeALockThatStays();
        trying = opened(ZooKeeperLockBackend.using(users, patient()));
        other = backend();
        ZooKeepers.get(trying.inspect(key));
        Claim before = claim();
        granted(ZooKeepers.get(other.claim(before)));
        assertThat(ZooKeepers.get(other.release(before))).isTrue();
    }

    /** A server takes a container away when nothing is in it, and with it the number of claims that came. */
    private void makeALockThatStays() throws Exception {
        zookeeper.create().creatingParentsIfNeeded().forPath(names.lock(key));
    }

    @AfterEach
    void closeTheApplicationsClient() {
        closeAll();
        users.close();
    }

    private Claim tries(Share share) {
        return new Claim(key, UUID.randomUUID().toString(), "me", LEASE, Claim.Mode.TRY, Claim.Keeping.RENEWED, share);
    }

    /** The line is answered when the step is done. */
    private CompletableFuture<ClaimResult> tryWith(Claim tries, Runnable step) {
        between.set(step);
        return trying.claim(tries).toFuture();
    }

    private int came() throws Exception {
        var stat = zookeeper.checkExists().forPath(names.lock(key));
        return (stat.getCversion() + stat.getNumChildren()) / 2;
    }

    private void isRefusedUnseen(Share share, Share ofTheOther) throws Exception {
        Claim owner = claim(ofTheOther);
        int before = came();

        CompletableFuture<ClaimResult> answer =
                tryWith(tries(share), () -> granted(ZooKeepers.get(other.claim(owner))));

        assertThat(ZooKeepers.get(answer)).isEqualTo(new ClaimResult.Busy());
        assertThat(came() - before).as("claims that came").isEqualTo(1);
        assertThat(ZooKeepers.get(other.release(owner))).isTrue();
    }

    @Test
    void oneThatIsRefusedBecauseAnotherCameIsNeverThere() throws Exception {
        isRefusedUnseen(Share.WHOLE, Share.WHOLE);
        isRefusedUnseen(Share.ONE, Share.WHOLE);
        isRefusedUnseen(Share.WHOLE, Share.ONE);
        isRefusedUnseen(Share.permits(2, 2), Share.permits(1, 2));
    }

    @Test
    void oneBeforeWhichAnotherCameAndLeftIsGranted() {
        Claim tries = tries(Share.WHOLE);

        CompletableFuture<ClaimResult> answer = tryWith(tries, () -> {
            Claim quick = claim();
            granted(ZooKeepers.get(other.claim(quick)));
            assertThat(ZooKeepers.get(other.release(quick))).isTrue();
        });

        granted(ZooKeepers.get(answer));
    }

    @Test
    void oneForAShareBesideWhichAnotherCameIsGrantedIfBothFit() {
        Claim beside = claim(Share.permits(1, 2));

        CompletableFuture<ClaimResult> answer =
                tryWith(tries(Share.permits(1, 2)), () -> granted(ZooKeepers.get(other.claim(beside))));

        granted(ZooKeepers.get(answer));
    }

    @Test
    void oneForALockOfWhichNothingIsThereIsGranted() throws Exception {
        zookeeper.delete().forPath(names.lock(key));

        granted(ZooKeepers.get(trying.claim(tries(Share.WHOLE))));
    }

    @Test
    void oneOfManyTriesAtOnceGetsAFreeLockEachTime() {
        List<ZooKeeperLockBackend> rivals = List.of(other, trying, backend());
        for (int round = 0; round < 100; round++) {
            chooseAKeyOfItsOwn();
            List<Claim> claims = Stream.generate(() -> tries(Share.WHOLE))
                    .limit(rivals.size())
                    .toList();
            List<CompletableFuture<ClaimResult>> answers = Stream.of(0, 1, 2)
                    .map(i -> rivals.get(i).claim(claims.get(i)).toFuture())
                    .toList();
            assertThat(answers.stream().map(ZooKeepers::get).filter(ClaimResult.Granted.class::isInstance))
                    .hasSize(1);
            for (int i = 0; i < rivals.size(); i++) {
                Boolean unused = ZooKeepers.get(rivals.get(i).release(claims.get(i)));
            }
        }
    }

    /** Tells a line that it read only when something else has happened. */
    @SuppressWarnings("try") // its close says that it may be interrupted
    private final class Slow extends ZooKeeper {

        Slow(String servers, int timeout, Watcher watcher) throws IOException {
            super(servers, timeout, watcher);
        }

        @Override
        public void getChildren(String path, Watcher watcher, Children2Callback answer, Object context) {
            Runnable step = between.getAndSet(null);
            super.getChildren(
                    path,
                    watcher,
                    step == null
                            ? answer
                            : (code, there, ctx, found, stat) -> {
                                CompletableFuture<Void> unused = CompletableFuture.runAsync(step)
                                        .thenRun(() -> answer.processResult(code, there, ctx, found, stat));
                            },
                    context);
        }
    }
}
