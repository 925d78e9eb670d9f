package io.github.reactivelock.blocking;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.FastThreadLocalThread;
import io.netty.util.internal.ThreadExecutorMap;
import reactor.core.scheduler.Schedulers;

/** Which threads must not block: those that Reactor marks, and the event loops of Netty, if it is there. */
final class EventLoops {

    private static final boolean NETTY = isNettyThere();

    private EventLoops() {}

    static boolean isCurrent() {
        return Schedulers.isInNonBlockingThread() || (NETTY && Netty.isCurrent());
    }

    private static boolean isNettyThere() {
        try {
            return !Netty.named().isEmpty();
        } catch (LinkageError e) {
            return false;
        }
    }

    /** Loaded only where Netty is. Vert.x's event loops are among these, its workers are not. */
    private static final class Netty {

        static String named() {
            return FastThreadLocalThread.class.getName()
                    + ThreadExecutorMap.class.getName()
                    + EventLoop.class.getName();
        }

        static boolean isCurrent() {
            // The map would leave an object on each thread of others that it is asked for.
            return Thread.currentThread() instanceof FastThreadLocalThread
                    && ThreadExecutorMap.currentExecutor() instanceof EventLoop;
        }
    }
}
