package io.github.reactivelock.spring;

import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockTimeoutException;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs a method of a Spring bean under a lock. The method returns a {@code Mono} or a {@code Flux}, or is a suspend
 * function of Kotlin; for anything else the application does not start.
 *
 * <pre>{@code
 * @WithLock(name = "order", key = "#id", waitTimeout = "2s")      // the lock "order:42"
 * Mono<Receipt> pay(long id) { … }
 * }</pre>
 *
 * <p>A call does nothing. Each subscription evaluates the key, waits for the lock, calls the method, subscribes to what
 * it returns, and releases when that has ended; so {@code retry()} and {@code repeat()} ask for the lock, and call the
 * method, again. A cancel, a loss of the lock and all errors are as with {@link LockClient#withLock}: the work sees the
 * lock in its Context, below the same key is reentrant, and the four lock errors reach the subscriber unchanged.
 *
 * <p>The lock is outside the transaction of a {@code @Transactional} method, for any order of the transaction's
 * advisor: it is released after the commit. A parameter of type {@link LockHandle}, or {@code List<LockHandle>} where
 * there are several keys, gets the hold; what the caller passes for it is ignored.
 *
 * <p>As with all of Spring's proxies, a call from within the same bean does not go through the lock. All texts may have
 * placeholders, as {@code "${order.wait}"}. Times are written {@code 2s} or {@code PT2S}, and are checked when the bean
 * is created; a time that is not given is that of the client's options. May be used to make annotations of one's own.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
public @interface WithLock {

    /**
     * The fixed part of the key, which metrics have as their tag {@code lock}. The lock's key is this name, or with
     * {@link #key} the name, a colon and that value.
     *
     * @return without a colon; may be empty if there is a key
     */
    String name() default "";

    /**
     * A SpEL expression for what the lock is about: {@code #id}, {@code #order.customer}, {@code #p0} for the first
     * parameter, {@code @tenants.current()} of a bean, {@code #root.method}, {@code #root.target}. Evaluated at each
     * subscription, on the subscriber's thread. A collection is several locks, which are taken all or none. A value
     * that stands for nothing, or whose text is not the same for equal values, is an {@link IllegalArgumentException}
     * for the subscriber.
     *
     * @return may be empty if there is a name
     */
    String key() default "";

    /**
     * How long to wait for the lock; then {@link LockTimeoutException}.
     *
     * @return a duration; empty for the client's
     */
    String waitTimeout() default "";

    /**
     * How long the store keeps the lock without hearing from this process.
     *
     * @return a duration of at least 100 milliseconds; empty for the client's
     */
    String lease() default "";

    /**
     * How long the method's work may take; one that takes longer loses the lock and is cancelled.
     *
     * @return a duration of at least 100 milliseconds; empty for the client's
     */
    String maxHold() default "";

    /**
     * How long the lock stays taken at least, also if the method's work ends sooner: for jobs that several instances
     * start, whose clocks differ. See {@link LockOptions#withMinHold}.
     *
     * @return a duration, not more than the longest hold; empty for the client's
     */
    String minHold() default "";

    /**
     * For how long a lock that no call needs is kept for the next one of this process, without a question to the store.
     * See {@link LockOptions#withRetention}. Not with FIFO, a minimum hold, or permits and read locks; those take
     * {@code 0s} where the client keeps locks.
     *
     * @return a duration, not more than the lease; {@code 0s} for not at all; empty for the client's
     */
    String retention() default "";

    /**
     * Runs the method only if the lock is free: if it is taken, the publisher completes empty, and a suspend function
     * returns null. So such a suspend function returns a nullable type or {@code Unit}.
     *
     * @return whether not to wait
     */
    boolean ifFree() default false;

    /**
     * Who gets the lock next, see {@link LockOptions#withFairness}.
     *
     * @return at most one; none for the client's
     */
    Fairness[] fairness() default {};

    /**
     * Takes the lock as a read lock: calls of such methods are in together, and none while a method has the same key
     * without this. See {@link LockClient#shared}.
     *
     * @return whether to share the lock with others that do
     */
    boolean shared() default false;

    /**
     * Makes the lock a semaphore: how many permits may be in use at once, over all processes. See
     * {@link LockClient#permits}.
     *
     * @return at least {@link #permits}; 0 for a lock that is none
     */
    int capacity() default 0;

    /**
     * How many permits of the {@link #capacity} one call takes.
     *
     * @return at least 1
     */
    int permits() default 1;

    /**
     * The name of the {@link LockClient} bean.
     *
     * @return empty for the only one, or the primary one
     */
    String client() default "";
}
