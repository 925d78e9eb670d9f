package io.github.reactivelock.zookeeper;

import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.curator.framework.state.ConnectionStateListener;
import org.apache.curator.retry.RetryUntilElapsed;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.client.ConnectStringParser;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ZKConfig;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/** Where Curator's client comes from: from the user, who keeps it, or made and started here. */
interface ClientSource {

    /**
     * A started client, with a listener: one made here tells it of its first connection, one of the user's of the next.
     */
    CuratorFramework open(ConnectionStateListener listener);

    /** The servers, for people. */
    String servers();

    boolean isOurs();

    /** What clients of the application with the same session have in common; null if no other has it. */
    default @Nullable Object shared() {
        return null;
    }

    /** A client of the application. */
    record Users(CuratorFramework client) implements ClientSource {
        @Override
        public CuratorFramework open(ConnectionStateListener listener) {
            if (client.getState() != CuratorFrameworkState.STARTED) {
                throw notStarted();
            }
            client.getConnectionStateListenable().addListener(listener);
            return client;
        }

        @Override
        public String servers() {
            return client.getZookeeperClient().getCurrentConnectionString();
        }

        @Override
        public boolean isOurs() {
            return false;
        }

        @Override
        public Object shared() {
            return client.getZookeeperClient();
        }

        static IllegalStateException notStarted() {
            return new IllegalStateException("the CuratorFramework given to 'using' must be started and not closed");
        }
    }

    /** A client made for this backend. */
    record Own(String servers, ZooKeeperBackendOptions options) implements ClientSource {

        private static final int PAUSE_BETWEEN_ATTEMPTS = 50;
        /** The names of about a million claims. A longer answer than its buffer closes a client's connection. */
        private static final int BUFFER = 64 << 20;

        /** Refuses what ZooKeeper would only refuse when it connects. */
        public Own {
            if (servers.isBlank() || servers.contains("://") || servers.contains("@")) {
                throw new IllegalArgumentException("a ZooKeeper connect string looks like host:2181,other:2181/path,"
                        + " without a scheme; user and password belong into the options. The one given does not");
            }
            try {
                new ConnectStringParser(servers);
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(
                        "a ZooKeeper connect string looks like host:2181,other:2181/path but is '" + servers + "'", e);
            }
        }

        @Override
        public boolean isOurs() {
            return true;
        }

        @Override
        public CuratorFramework open(ConnectionStateListener listener) {
            int patience = (int) options.commandTimeout().toMillis();
            CuratorFrameworkFactory.Builder builder = CuratorFrameworkFactory.builder()
                    .connectString(servers)
                    .sessionTimeoutMs((int) options.sessionTimeout().toMillis())
                    .connectionTimeoutMs(patience)
                    .retryPolicy(new RetryUntilElapsed(patience, PAUSE_BETWEEN_ATTEMPTS))
                    .zkClientConfig(roomy())
                    // The servers given are the ones to use: what they call themselves may not be reachable from here.
                    .ensembleTracker(false);
            if (options.digest() != null) {
                builder.authorization("digest", KeyLayout.bytes(options.digest()))
                        .aclProvider(new Creator());
            }
            CuratorFramework client = builder.build();
            client.getConnectionStateListenable().addListener(listener);
            client.start();
            return client;
        }
    }

    private static ZKClientConfig roomy() {
        ZKClientConfig config = new ZKClientConfig();
        int wanted = config.getInt(ZKConfig.JUTE_MAXBUFFER, Own.BUFFER);
        config.setProperty(ZKConfig.JUTE_MAXBUFFER, Integer.toString(Math.max(wanted, Own.BUFFER)));
        return config;
    }

    /** A node belongs to the user that made it. */
    final class Creator implements ACLProvider {
        @Override
        public List<ACL> getDefaultAcl() {
            return ZooDefs.Ids.CREATOR_ALL_ACL;
        }

        @Override
        public List<ACL> getAclForPath(String path) {
            return ZooDefs.Ids.CREATOR_ALL_ACL;
        }
    }
}
