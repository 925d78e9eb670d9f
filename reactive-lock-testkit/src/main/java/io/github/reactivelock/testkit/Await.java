package io.github.reactivelock.testkit;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;

/** Waits on a test's own thread: always until a deadline, never for a fixed time. */
final class Await {

    /** Far more than working code takes, even on a busy machine. */
    static final Duration LIMIT = Duration.ofSeconds(60);
    /** For hundreds of things one after another. */
    static final Duration LONG_LIMIT = Duration.ofMinutes(5);

    private static final long SHORTEST = Duration.ofMillis(2).toNanos();
    private static final long LONGEST = Duration.ofMillis(100).toNanos();
    /** A pause is as long as so many looks, so that a test leaves the processor to what it waits for. */
    private static final int LOOKS = 4;

    private Await() {}

    /** The value of a Mono that must have one. */
    @CanIgnoreReturnValue
    static <T> T get(Mono<T> mono) {
        return get(mono, LIMIT);
    }

    static <T> T get(Mono<T> mono, Duration limit) {
        return Objects.requireNonNull(mono.block(limit), "the Mono completed empty");
    }

    static boolean isEmpty(Mono<?> mono) {
        return Boolean.FALSE.equals(mono.hasElement().block(LIMIT));
    }

    static void run(Mono<?> mono) {
        run(mono, LIMIT);
    }

    static void run(Mono<?> mono, Duration limit) {
        mono.block(limit);
    }

    /** Longer than the wait for a value, because a test's own blocking ends with that value. */
    static void open(CountDownLatch latch) {
        try {
            if (!latch.await(2 * LIMIT.toSeconds(), TimeUnit.SECONDS)) {
                throw new AssertionError("still " + latch.getCount() + " to come");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The value of a future that must get one. */
    @CanIgnoreReturnValue
    static <T> T get(Future<T> future) {
        try {
            return future.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw new AssertionError("failed instead of ending well", e.getCause());
        } catch (TimeoutException e) {
            throw new AssertionError("not ended within " + LIMIT, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    /** Waits until a future has ended well. */
    static <T> void done(Future<T> future) {
        get(future);
    }

    /** The error of a future that must fail. */
    @CanIgnoreReturnValue
    static Throwable error(Future<?> future) {
        try {
            throw new AssertionError(
                    "ended well instead of failing, with " + future.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS));
        } catch (ExecutionException e) {
            return Objects.requireNonNull(e.getCause());
        } catch (TimeoutException e) {
            throw new AssertionError("not ended within " + LIMIT, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    /** Polls until the condition is true. */
    static void until(String what, BooleanSupplier isSo) {
        seen(what, isSo::getAsBoolean, is -> is);
    }

    static void until(String what, Duration limit, BooleanSupplier isSo) {
        seen(what, limit, isSo::getAsBoolean, is -> is);
    }

    /** What a look shows as soon as that is so. Another look may be answered by another server, which is behind. */
    @CanIgnoreReturnValue
    static <T> T seen(String what, Supplier<T> look, Predicate<T> isSo) {
        return seen(what, LIMIT, look, isSo);
    }

    @CanIgnoreReturnValue
    private static <T> T seen(String what, Duration limit, Supplier<T> look, Predicate<T> isSo) {
        long deadline = System.nanoTime() + limit.toNanos();
        while (true) {
            long begun = System.nanoTime();
            T seen = look.get();
            if (isSo.test(seen)) {
                return seen;
            }
            long now = System.nanoTime();
            if (now - deadline > 0) {
                throw new AssertionError("not so within " + limit + ": " + what);
            }
            pause(LOOKS * (now - begun));
        }
    }

    private static void pause(long nanos) {
        try {
            TimeUnit.NANOSECONDS.sleep(Math.max(SHORTEST, Math.min(LONGEST, nanos)));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
