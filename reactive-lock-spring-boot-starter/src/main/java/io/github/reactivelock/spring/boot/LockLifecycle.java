package io.github.reactivelock.spring.boot;

import io.github.reactivelock.LockClient;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Closes the lock clients when the application stops: after the web server has finished its requests and schedulers their tasks,
 * which may hold locks, and before any connection factory closes, over whose connections the locks may be given back. Does
 * not take part in a pause, because a client that was closed stays closed.
 */
final class LockLifecycle implements SmartLifecycle {

    /** Web servers stop in phases near the highest, executors in half of that, connection factories in 0. */
    static final int PHASE = DEFAULT_PHASE / 4;

    private static final Logger log = LoggerFactory.getLogger(LockLifecycle.class);

    private final List<LockClient> clients;
    private volatile boolean running;

    LockLifecycle(List<LockClient> clients) {
        this.clients = List.copyOf(clients);
    }

    @Override
    public void start() {
        running = true;
    }

    @Override
    public void stop() {
        stop(() -> {});
    }

    @Override
    public void stop(Runnable callback) {
        running = false;
        Disposable unused = Flux.fromIterable(clients)
                .flatMap(client -> client.close().onErrorResume(failed -> {
                    log.warn("a lock client did not close cleanly", failed);
                    return Mono.empty();
                }))
                .doFinally(signal -> callback.run())
                .subscribe();
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public boolean isPauseable() {
        return false;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }
}
