package io.github.reactivelock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.AsyncCallback.Children2Callback;
import org.apache.zookeeper.AsyncCallback.MultiCallback;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Through a server that has not heard yet what the leader has confirmed to others. */
class BehindTheLeaderTest extends Fixture {

    private static final Executor LATER = CompletableFuture.delayedExecutor(300, TimeUnit.MILLISECONDS);

    private CuratorFramework users;
    private ZooKeeperLockBackend behind;
    private volatile Behind handle;
    private long token;

    @BeforeEach
    void somebodyHasTheLock() {
        users = CuratorFrameworkFactory.builder()
                .connectString(server.getConnectString())
                .sessionTimeoutMs(20_000)
                .connectionTimeoutMs(15_000)
                .retryPolicy(new RetryOneTime(100))
                .ensembleTracker(false)
                .zookeeperFactory((servers, timeout, watcher, readOnly) -> {
                    handle = new Behind(servers, timeout, watcher);
                    return handle;
                })
                .build();
        users.start();
        behind = opened(ZooKeeperLockBackend.using(users, patient()));
        ZooKeepers.get(behind.inspect(key));
        token = granted(ZooKeepers.get(backend().claim(claim())));
    }

    @AfterEach
    void closeTheApplicationsClient() {
        closeAll();
        users.close();
    }

    @Test
    void whoBeginsToWatchIsToldOfTheOwner() {
        handle.knowsNothing = true;

        LockEvent first = ZooKeepers.get(behind.events(key).next());

        assertThat(((LockEvent.Snapshot) first).info())
                .isInstanceOfSatisfying(
                        LockInfo.Held.class,
                        seen -> assertThat(seen.fencingToken()).isEqualTo(token));
    }

    /**
     * Curator keeps back what is asked while there is no connection, and sends at once what is asked when there is one
     * again.
     */
    @Test
    void whatItAnswersBeforeItCatchesUpDoesNotCount() {
        handle.knowsNothing = true;
        handle.isAskedLater = true;

        assertThat(ZooKeepers.get(behind.inspect(key)))
                .isInstanceOfSatisfying(
                        LockInfo.Held.class,
                        seen -> assertThat(seen.fencingToken()).isEqualTo(token));
    }

    /** A client of a server that shows no lock at all until a write of this client went through. */
    @SuppressWarnings("try") // its close says that it may be interrupted
    private static final class Behind extends ZooKeeper {

        private volatile boolean knowsNothing;
        /** To catch up, once. */
        private volatile boolean isAskedLater;

        Behind(String servers, int timeout, Watcher watcher) throws IOException {
            super(servers, timeout, watcher);
        }

        @Override
        public void getChildren(String path, Watcher watcher, Children2Callback answer, Object context) {
            if (knowsNothing) {
                Executor other = CompletableFuture.delayedExecutor(0, TimeUnit.MILLISECONDS);
                other.execute(() -> answer.processResult(Code.OK.intValue(), path, context, List.of(), new Stat()));
            } else {
                super.getChildren(path, watcher, answer, context);
            }
        }

        /**
         * A leader that answers {@code sync} may know as little afterwards; only a write waits for what came before.
         */
        @Override
        public void multi(Iterable<Op> operations, MultiCallback answer, Object context) {
            Runnable question = () -> {
                knowsNothing = false;
                super.multi(operations, answer, context);
            };
            if (isAskedLater) {
                isAskedLater = false;
                LATER.execute(question);
            } else {
                question.run();
            }
        }
    }
}
