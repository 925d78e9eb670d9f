package io.github.reactivelock.spi.support;

import java.util.List;
import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/**
 * Tells BlockHound, where it watches, what a client may do on any thread. Its random name comes out of a file that
 * always answers at once. Its timers are set and stopped under locks that the JDK's executors hold for a few
 * instructions; an error thrown from inside would leave such a lock broken, and with it a scheduler that the whole
 * application shares. BlockHound finds this class by itself, and nothing else needs it.
 */
public final class BlockHoundAllowances implements BlockHoundIntegration {

    /** For BlockHound. */
    public BlockHoundAllowances() {}

    @Override
    public void applyTo(BlockHound.Builder builder) {
        builder.allowBlockingCallsInside(RandomId.class.getName(), "next");
        builder.allowBlockingCallsInside("io.github.reactivelock.text.HostName", "ofThisProcess");
        // Looks for a class in jars, as the JVM had done before.
        builder.allowBlockingCallsInside("io.github.reactivelock.text.ClassPathFault", "in");
        builder.allowBlockingCallsInside(OwnScheduler.class.getName(), "pause");
        builder.allowBlockingCallsInside("java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue", "remove");
        for (String method : List.of("addWorker", "remove", "shutdown", "shutdownNow")) {
            builder.allowBlockingCallsInside("java.util.concurrent.ThreadPoolExecutor", method);
        }
    }
}
