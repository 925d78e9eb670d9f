package io.github.reactivelock.zookeeper;

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/** Lets BlockHound watch ZooKeeper's event threads, on which all answers come. */
public final class EventThreads implements BlockHoundIntegration {

    private static final String EVENT_THREAD = "org.apache.zookeeper.ClientCnxn$EventThread";

    @Override
    public void applyTo(BlockHound.Builder builder) {
        builder.nonBlockingThreadPredicate(
                known -> known.or(thread -> thread.getClass().getName().equals(EVENT_THREAD)));
        // It waits for events, and must not wait while it handles one.
        builder.allowBlockingCallsInside(EVENT_THREAD, "run");
        builder.disallowBlockingCallsInside(EVENT_THREAD, "processEvent");
        // Curator makes a new handle there when a session has expired, and takes short locks of its own.
        builder.allowBlockingCallsInside("org.apache.curator.ConnectionState", "process");
        builder.allowBlockingCallsInside("org.apache.curator.framework.imps.CuratorFrameworkImpl", "queueOperation");
        // ZooKeeper reads keys and certificates on its own event loops, for each connection anew.
        builder.allowBlockingCallsInside(
                "org.apache.zookeeper.ClientCnxnSocketNetty$ZKClientPipelineFactory", "initChannel");
        builder.allowBlockingCallsInside("org.apache.zookeeper.server.NettyServerCnxnFactory", "initSSL");
        // It takes locks there that it holds for a few instructions; an error from inside leaves them broken for ever.
        builder.allowBlockingCallsInside("org.apache.zookeeper.ClientCnxnSocketNetty", "wakeupCnxn");
        builder.allowBlockingCallsInside("org.apache.zookeeper.ClientCnxnSocketNetty$1", "operationComplete");
    }
}
