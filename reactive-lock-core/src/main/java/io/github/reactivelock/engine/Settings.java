package io.github.reactivelock.engine;

import io.github.reactivelock.LockListener;
import io.github.reactivelock.spi.LockBackend;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;

/**
 * The settings of a {@code LockClientBuilder} at the moment of its build. Its Javadoc explains each.
 *
 * @param timer a thread of the client's own if null
 * @param name of the owner of its claims; of this machine and process if null
 * @param others go on with events that are too many for the thread that posted them
 * @param idPrefix of the ids of claims; drawn by chance if null
 * @param jitter of the pauses before signals are subscribed to again, a share of the pause
 */
public record Settings(
        LockBackend backend,
        @Nullable String name,
        Duration commandTimeout,
        int maxPasses,
        Duration maxPassing,
        int maxRetained,
        double marginShare,
        Duration marginFixed,
        Scheduler work,
        Executor others,
        @Nullable Scheduler timer,
        LongSupplier nanoClock,
        LongSupplier wallClock,
        @Nullable LockListener listener,
        @Nullable String idPrefix,
        double jitter) {}
