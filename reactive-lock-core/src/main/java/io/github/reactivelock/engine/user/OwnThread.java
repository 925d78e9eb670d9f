package io.github.reactivelock.engine.user;

import org.jspecify.annotations.Nullable;

/**
 * A thread that has nothing of the thread that happens to cause it: not its context class loader, which on a driver's
 * thread may be none at all and would be found by application code that runs here later, and none of its inheritable
 * thread-locals.
 */
public class OwnThread extends Thread {

    @SuppressWarnings("ThreadPriorityCheck") // set so that none is inherited; no code relies on it
    public OwnThread(String name, @Nullable Runnable task) {
        super(null, task, name, 0, false);
        setDaemon(true);
        setPriority(NORM_PRIORITY);
        setContextClassLoader(OwnThread.class.getClassLoader());
    }
}
