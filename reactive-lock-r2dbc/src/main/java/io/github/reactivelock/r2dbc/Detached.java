package io.github.reactivelock.r2dbc;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** The one place where this module subscribes for itself: to what nobody waits for. What goes wrong is logged. */
final class Detached {

    private static final Logger log = LoggerFactory.getLogger(Detached.class);

    private Detached() {}

    static Disposable run(String what, Mono<?> work) {
        return work.subscribe(done -> {}, error -> log.debug("{} failed", what, error));
    }
}
