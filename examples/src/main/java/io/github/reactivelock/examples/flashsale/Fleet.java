package io.github.reactivelock.examples.flashsale;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.examples.ChildProcess;
import io.github.reactivelock.examples.Print;
import io.github.reactivelock.lettuce.LettuceLockBackend;
import io.github.reactivelock.state.LockInfo;
import java.time.Duration;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The instances of the application, and their connections to the door. */
final class Fleet {

    private static final Duration START_LIMIT = Duration.ofSeconds(60);
    private static final Duration CLEANING_LIMIT = Duration.ofSeconds(2);

    private final AppRedis redis;
    private final Names names;
    private final List<ChildProcess> instances;
    private final LockClient operator;

    private Fleet(AppRedis redis, Names names, List<ChildProcess> instances, LockClient operator) {
        this.redis = redis;
        this.names = names;
        this.instances = instances;
        this.operator = operator;
    }

    static Mono<Fleet> start(String uri, Names names, int size) {
        return AppRedis.connect(uri)
                .flatMap(redis -> Flux.range(1, size)
                        .map(number -> "app-" + number)
                        .flatMap(name -> Mono.fromCallable(() -> ChildProcess.start(
                                        name, ProcessBuilder.Redirect.DISCARD, Instance.class, uri, names.run(), name))
                                .subscribeOn(Schedulers.boundedElastic()))
                        .collectList()
                        .map(started ->
                                new Fleet(redis, names, started, LockClient.create(LettuceLockBackend.connect(uri)))));
    }

    /** Completes when every instance has said its name. */
    Mono<Void> ready() {
        Mono<Void> all = redis.take(names.answers()).take(instances.size()).then();
        Mono<Void> anyExit = Flux.fromIterable(instances)
                .flatMap(ChildProcess::exit)
                .then(Mono.error(
                        new IllegalStateException("an instance ended before it was ready; see its output above")));
        return Mono.firstWithSignal(all, anyExit)
                .timeout(
                        START_LIMIT,
                        Mono.error(
                                () -> new IllegalStateException("the instances were not ready within " + START_LIMIT)));
    }

    AppRedis redis() {
        return redis;
    }

    Names names() {
        return names;
    }

    List<ChildProcess> alive() {
        return instances.stream().filter(ChildProcess::isAlive).toList();
    }

    /** Sends lines to an instance's desk. */
    Mono<Void> tell(ChildProcess instance, List<String> lines) {
        return lines.isEmpty()
                ? Mono.empty()
                : redis.commands()
                        .rpush(names.desk(instance.name()), lines.toArray(String[]::new))
                        .then();
    }

    /**
     * Kills the instance that holds a lock at this moment, or any if none does; completes when the hold
     * has ended.
     */
    Mono<Void> killHolder(String key) {
        return operator.inspect(key).flatMap(info -> {
            String owner = info instanceof LockInfo.Held held ? held.owner() : "";
            List<ChildProcess> alive = alive();
            ChildProcess victim = alive.stream()
                    .filter(instance -> instance.name().equals(owner))
                    .findFirst()
                    .orElse(alive.get(0));
            victim.kill();
            long killed = System.nanoTime();
            Print.line(
                    "  kill -9 %s, %s",
                    victim.name(), owner.isEmpty() ? "while the lock was free" : "which held the lock");
            return operator.awaitRelease(key)
                    .doOnSuccess(done -> Print.line(
                            "  the lock was free again %.1f s after the kill", (System.nanoTime() - killed) / 1e9));
        });
    }

    Mono<Void> close() {
        return Flux.fromIterable(alive())
                .flatMap(instance -> instance.end(tell(instance, List.of(Instance.CLOSE))))
                .then(redis.commands()
                        .del(names.all(instances.stream().map(ChildProcess::name)))
                        .timeout(CLEANING_LIMIT)
                        .onErrorComplete())
                .then(operator.close())
                .then(redis.close());
    }
}
