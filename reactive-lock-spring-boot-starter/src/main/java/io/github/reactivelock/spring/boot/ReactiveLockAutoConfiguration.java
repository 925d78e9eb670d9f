package io.github.reactivelock.spring.boot;

import org.springframework.boot.autoconfigure.AutoConfiguration;

/** Makes a {@link io.github.reactivelock.LockClient} on the store that the application has. */
@AutoConfiguration
public final class ReactiveLockAutoConfiguration {

    /** Made by Spring. */
    public ReactiveLockAutoConfiguration() {}
}
