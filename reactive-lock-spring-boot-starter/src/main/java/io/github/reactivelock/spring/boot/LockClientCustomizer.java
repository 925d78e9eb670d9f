package io.github.reactivelock.spring.boot;

import io.github.reactivelock.LockClientBuilder;

/**
 * Changes the lock client before it is made, in what no property says: its pass budget, its work scheduler, its command
 * timeout. A bean; several are called in their order.
 */
@FunctionalInterface
public interface LockClientCustomizer {

    /**
     * Called once, after the properties were applied. A listener set here gets all the events that the
     * {@code LockListener} beans get, after them.
     *
     * @param builder of the client
     */
    void customize(LockClientBuilder builder);
}
