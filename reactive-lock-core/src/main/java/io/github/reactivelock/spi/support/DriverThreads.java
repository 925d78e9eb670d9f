package io.github.reactivelock.spi.support;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler;

/**
 * The threads on which stores call their drivers. A thread inherits the context class loader of the one that makes it,
 * and a driver looks for its parts with it: on a thread that came from a foreign one, they are not found. So code that
 * makes threads is called with the library's own loader, and the threads made here have it and inherit nothing.
 */
public final class DriverThreads {

    private static final ClassLoader LIBRARY = DriverThreads.class.getClassLoader();
    /** Few, because a client that is closed should leave no thread for long. */
    private static final long IDLE_SECONDS = 2;

    private static final int MOST = 10 * Runtime.getRuntime().availableProcessors();
    private static final Scheduler MAY_BLOCK = scheduler("reactive-lock-driver", MOST);
    private static final String TIMER_NAME = "reactive-lock-store-timer";
    private static final Scheduler TIMER = scheduler(TIMER_NAME, 1);
    /** As many as work threads of lock clients: enough for users whose code blocks now and then. */
    private static final Scheduler FOR_USERS = scheduler("reactive-lock-store-work", 256);

    private DriverThreads() {}

    /**
     * Calls a driver with the library's context class loader, on the calling thread.
     *
     * @param step may make threads
     * @param <T> the result's type
     * @return what the step returns
     * @throws IllegalStateException if the step throws an {@link Error}, which is the cause: Reactor would swallow some
     *     of them
     */
    public static <T> T call(Supplier<T> step) {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(LIBRARY);
        try {
            return step.get();
        } catch (Error e) {
            throw new IllegalStateException("the driver does not work here: " + e, e);
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    /**
     * Does a step as {@link #call} does.
     *
     * @param step may make threads
     */
    public static void run(Runnable step) {
        call(() -> {
            step.run();
            return true;
        });
    }

    /**
     * Calls a driver as {@link #call} does, for each subscription and on a thread that may block.
     *
     * @param step may block and make threads
     * @param <T> the result's type
     * @return what the step returns, on that thread; its error if it throws, of any kind
     */
    public static <T> Mono<T> calling(Supplier<T> step) {
        return Mono.fromSupplier(() -> call(step)).subscribeOn(MAY_BLOCK);
    }

    /**
     * Subscribes as {@link #call} does, and signals what is thrown meanwhile.
     *
     * @param source of a driver
     * @param <T> the value's type
     * @return as the source
     */
    public static <T> Mono<T> subscribing(Mono<T> source) {
        return Carried.operator(new Mono<>() {
            @Override
            public void subscribe(CoreSubscriber<? super T> subscriber) {
                try {
                    run(() -> source.subscribe(subscriber));
                } catch (RuntimeException e) {
                    Operators.reportThrowInSubscribe(subscriber, e);
                }
            }
        });
    }

    /**
     * Threads for drivers that block. They end when they have nothing to do for two seconds.
     *
     * @return shared, never to be disposed of
     */
    public static Scheduler mayBlock() {
        return MAY_BLOCK;
    }

    /**
     * The timer of all stores, for delays and limits. It is the library's own, so that an application that keeps the
     * threads of {@code Schedulers.parallel()}, or a test that moves virtual time, delays no renewal and no limit. It
     * has one thread, on which nothing may block and no code of a user may run.
     *
     * @return shared, never to be disposed of
     */
    public static Scheduler timer() {
        return TIMER;
    }

    /**
     * Where a store goes on when its own timer ends something of a user: what it signals then, and what it cancels, is
     * code of that user, and may block. A limit of work that a user gave is set on this scheduler at once.
     *
     * @return shared, never to be disposed of
     */
    public static Scheduler forUsers() {
        return FOR_USERS;
    }

    /**
     * Subscribes on a thread that may block where it would be on the timer: what makes connections may be an
     * application's own.
     *
     * @param source of a driver, or of an application
     * @param <T> the value's type
     * @return as the source
     */
    public static <T> Mono<T> offTimer(Mono<T> source) {
        return Mono.defer(
                () -> Thread.currentThread().getName().startsWith(TIMER_NAME) ? source.subscribeOn(MAY_BLOCK) : source);
    }

    /**
     * A scheduler with threads of its own, which end when they have nothing to do for two seconds, and whose tasks
     * carry nothing of the thread that schedules them ({@link OwnScheduler}).
     *
     * @param name what its threads are called, before their number
     * @param most how many threads it has; what one thread does keeps its order
     * @return to be disposed of by the caller
     */
    public static Scheduler scheduler(String name, int most) {
        AtomicLong count = new AtomicLong();
        ThreadFactory factory = task -> own(task, name + "-" + count.incrementAndGet());
        if (most == 1) {
            return OwnScheduler.on(factory);
        }
        ThreadPoolExecutor threads = new ThreadPoolExecutor(
                most, most, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), factory);
        threads.allowCoreThreadTimeOut(true);
        return OwnScheduler.feeding(task -> own(task, name + "-timer"), threads);
    }

    private static Thread own(Runnable task, String name) {
        Thread thread = new Thread(null, task, name, 0, false);
        thread.setContextClassLoader(LIBRARY);
        thread.setDaemon(true);
        return thread;
    }
}
