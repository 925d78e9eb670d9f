package io.github.reactivelock.testkit;

import java.util.concurrent.atomic.AtomicLong;

/** A resource that checks fencing tokens: it refuses a token that is lower than one it has seen. */
public final class FencedRegister {

    private final AtomicLong highest = new AtomicLong();

    /** Nothing written yet. */
    public FencedRegister() {}

    /**
     * Writes, unless a writer with a higher token has written.
     *
     * @param fencingToken the writer's token
     * @return whether the write was accepted
     */
    public boolean write(long fencingToken) {
        return highest.accumulateAndGet(fencingToken, Math::max) == fencingToken;
    }

    /**
     * Writes by one of several that share the lock, unless a writer with a higher token has written alone. The token is
     * not remembered.
     *
     * @param fencingToken the writer's token
     * @return whether the write was accepted
     */
    public boolean writeShared(long fencingToken) {
        return highest.get() <= fencingToken;
    }
}
