package io.github.reactivelock.simulation;

import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LockInfo;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import reactor.core.scheduler.Scheduler;

/** A server with a store, whose clock is the world's unless it jumps. */
interface Site {

    /**
     * A client's way in, which lasts until the store is lost.
     *
     * @param timer of that client's machine
     * @param hears whether its connection for pushes is there, as far as the server knows
     * @param pushes takes what is pushed, but for confirmations
     */
    QuorumNode connect(String client, Scheduler timer, BooleanSupplier hears, Consumer<Signal> pushes);

    /** The store is another one from now on: everything it knew is gone, or what it learned of late. */
    void lose(Duration late);

    /**
     * It has no memory left until then, and what that refuses is up to its script.
     *
     * @return false if it has none
     */
    default boolean fill(long until) {
        return false;
    }

    /** The clock is set ahead. */
    void jump(Duration ahead);

    /**
     * Grants with lower tokens may be unknown to the store, or over sooner than was promised, through no fault of
     * anybody's.
     */
    long excusedBelow();

    /** How many connections were lost with it; who connected before has to do it again. */
    int generation();

    /** Since when it has forgotten nothing, in the world's time. */
    long since();

    /** The lock as it is now, without a way. */
    LockInfo inspect(String key);

    /** What is held, waited for or kept of locks now. */
    int size();

    /** It is about to be asked something that may end in a grant, whose token may begin at the time. */
    default void mayGrant() {}

    default void close() {}
}
