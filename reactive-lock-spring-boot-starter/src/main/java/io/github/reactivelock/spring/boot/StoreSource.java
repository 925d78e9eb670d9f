package io.github.reactivelock.spring.boot;

import io.github.reactivelock.spi.LockBackend;
import org.jspecify.annotations.Nullable;

/** A store whose driver is on the class path, and what the application has of it. */
interface StoreSource {

    /** {@return which one} */
    Store store();

    /**
     * What the application connects to this store with.
     *
     * @return for people, and without secrets; null if it has nothing
     */
    @Nullable
    String found();

    /**
     * A backend with a connection like the application's.
     *
     * @param properties whose connection, and how locks are laid out
     * @return a backend that has not connected yet
     */
    LockBackend ofApplication(ReactiveLockProperties properties);

    /**
     * Where a backend made by {@link #ofApplication} keeps its locks.
     *
     * @param backend the one
     * @return for people, and without secrets
     */
    default String where(LockBackend backend) {
        return store().word() + ", over " + found();
    }

    /**
     * A backend with a connection of its own.
     *
     * @param url where to
     * @param properties how locks are laid out
     * @return a backend that has not connected yet
     */
    LockBackend ofUrl(String url, ReactiveLockProperties properties);
}
