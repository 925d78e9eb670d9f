package io.github.reactivelock.benchmarks.webflux;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import reactor.blockhound.BlockHound;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Counts the blocking calls that this library makes on threads that must not block. */
final class Watch {

    private static final String LIBRARY = "io.github.reactivelock.";
    private static final String BENCHMARKS = LIBRARY + "benchmarks.";

    private final AtomicLong ours = new AtomicLong();
    private final AtomicLong others = new AtomicLong();

    /** The JVM must have been started with {@code -XX:+AllowRedefinitionToAddDeleteMethods}. */
    void begin() {
        BlockHound.builder()
                .loadIntegrations()
                .blockingMethodCallback(method -> {
                    Throwable here = new Throwable(method.toString());
                    if (isOfLibrary(here)) {
                        ours.incrementAndGet();
                        here.printStackTrace();
                    } else {
                        others.incrementAndGet();
                    }
                })
                .install();
        // Silence counts only if a call like this one is heard.
        Mono.fromCallable(() -> {
                    Thread.sleep(1);
                    return true;
                })
                .subscribeOn(Schedulers.parallel())
                .block();
        if (others.get() == 0) {
            throw new IllegalStateException("BlockHound does not hear what blocks");
        }
    }

    private static boolean isOfLibrary(Throwable here) {
        return List.of(here.getStackTrace()).stream()
                .map(StackTraceElement::getClassName)
                .anyMatch(name -> name.startsWith(LIBRARY) && !name.startsWith(BENCHMARKS));
    }

    long ours() {
        return ours.get();
    }
}
