package io.github.reactivelock.spi.support;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** Subscribes to work whose outcome no caller awaits, such as a clean-up. A failure is logged at level debug. */
public final class FireAndForget {

    private static final Logger log = LoggerFactory.getLogger(FireAndForget.class);

    private FireAndForget() {}

    /**
     * Starts the work, in the name of none of the flows that cause it ({@link Carried#byNobody(Mono)}).
     *
     * @param what what the log calls it
     * @param work what to subscribe to
     */
    public static void run(String what, Mono<?> work) {
        Carried.byNobody(work).subscribe(done -> {}, error -> failed(what, error));
    }

    /**
     * As {@link #run}, for work that may come to be unwanted.
     *
     * @param what what the log calls it
     * @param work what to subscribe to
     * @return cancels the work
     */
    public static Disposable cancellable(String what, Mono<?> work) {
        return Carried.byNobody(work).subscribe(done -> {}, error -> failed(what, error));
    }

    private static void failed(String what, Throwable error) {
        log.debug("{} failed", what, error);
    }
}
