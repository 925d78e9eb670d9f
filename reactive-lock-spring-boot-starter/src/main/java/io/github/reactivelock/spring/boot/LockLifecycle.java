package io.github.reactivelock.spring.boot;

import io.github.reactivelock.LockClient;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanNameAware;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.TaskScheduler;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Closes the lock clients when the application stops, after all that may hold locks. Does not take part in a pause,
 * because a client that was closed stays closed.
 *
 * <p>Clients with connections of their own close when the executors and schedulers of the application have ended: with
 * {@code await-termination} their tasks go on until they are destroyed, which is after all phases. Clients that may use
 * connections of the application close in a phase: after requests and tasks have ended as far as they do, and before
 * the connection factories close, over whose connections the locks are given back.
 */
final class LockLifecycle implements SmartLifecycle, DisposableBean, BeanNameAware {

    /** Web servers stop in phases near the highest, executors in half of that, connection factories in 0. */
    static final int PHASE = DEFAULT_PHASE / 4;

    /** By the name that is looked for. */
    private static final Logger log = LoggerFactory.getLogger(LockClient.class);

    /** Whose connections the clients use. */
    enum Connections {
        OWN,
        OF_APPLICATION
    }

    private final Map<LockClient, String> clients;
    private final Connections connections;
    private final ConfigurableListableBeanFactory beans;
    private volatile boolean running;

    /** For clients with what people know each by. */
    LockLifecycle(Map<LockClient, String> clients, Connections connections, ConfigurableListableBeanFactory beans) {
        this.clients = Collections.unmodifiableMap(new LinkedHashMap<>(clients));
        this.connections = connections;
        this.beans = beans;
    }

    /** What depends on a bean is destroyed before it. */
    @Override
    public void setBeanName(String name) {
        Stream.of(Executor.class, TaskScheduler.class)
                .flatMap(type -> Stream.of(beans.getBeanNamesForType(type, false, false)))
                .forEach(executor -> beans.registerDependentBean(name, executor));
    }

    @Override
    public void start() {
        running = true;
        clients.forEach((client, store) -> log.info(
                "locks in {}, lease {}", store, inWords(client.options().lease())));
    }

    private static String inWords(Duration lease) {
        return lease.toMillis() % 1000 == 0 ? lease.toSeconds() + " s" : lease.toMillis() + " ms";
    }

    @Override
    public void stop() {
        stop(() -> {});
    }

    @Override
    public void stop(Runnable callback) {
        running = false;
        Mono<Void> end = connections == Connections.OWN ? Mono.empty() : close();
        end.doFinally(signal -> callback.run())
                .subscribe(closed -> {}, failed -> log.warn("the lock clients did not close", failed));
    }

    /** Waits on the thread that ends the application; closing takes five seconds at most. */
    @Override
    public void destroy() {
        close().toFuture().join();
    }

    private Mono<Void> close() {
        return Flux.fromIterable(clients.entrySet())
                .flatMap(client -> client.getKey().close().onErrorResume(failed -> {
                    log.warn("the lock client of {} did not close cleanly", client.getValue(), failed);
                    return Mono.empty();
                }))
                .then();
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
