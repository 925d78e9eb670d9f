package io.github.reactivelock.spring;

import static reactor.core.publisher.Sinks.EmitFailureHandler.FAIL_FAST;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.state.LockInfo;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** A bean as users have it. */
class Orders {

    private final LockClient client;
    private final AtomicInteger calls = new AtomicInteger();
    private final Sinks.Empty<Void> end = Sinks.empty();
    private final Sinks.Empty<Void> started = Sinks.empty();
    private final Sinks.Empty<Void> cancelled = Sinks.empty();

    Orders(LockClient client) {
        this.client = client;
    }

    int calls() {
        return calls.get();
    }

    /** Ends what {@link #held} holds. */
    void end() {
        end.emitEmpty(FAIL_FAST);
    }

    /** Completes when {@link #held} is under its lock. */
    Mono<Void> started() {
        return started.asMono();
    }

    Mono<Void> cancelled() {
        return cancelled.asMono();
    }

    @WithLock(name = "order", key = "#id")
    Mono<Boolean> isLocked(long id) {
        calls.incrementAndGet();
        return client.inspect("order:" + id).map(LockInfo::isHeld);
    }

    @WithLock(name = "order", key = "#id")
    Flux<Boolean> areLocked(long id) {
        calls.incrementAndGet();
        return client.inspect("order:" + id).map(LockInfo::isHeld).repeat(2);
    }

    @WithLock(name = "order", key = "#id")
    Mono<String> failsTwice(long id) {
        int call = calls.incrementAndGet();
        return call < 3 ? Mono.error(new IOException("call " + call)) : Mono.just("done");
    }

    @WithLock(name = "order", key = "#id")
    Mono<Void> held(long id) {
        return end.asMono()
                .doOnSubscribe(work -> started.emitEmpty(FAIL_FAST))
                .doOnCancel(() -> cancelled.emitEmpty(FAIL_FAST));
    }

    @WithLock(name = "order", key = "#id", ifFree = true)
    Mono<String> ifFree(long id) {
        return Mono.just("ran");
    }

    @WithLock(name = "order", key = "#id", ifFree = true)
    Flux<String> manyIfFree(long id) {
        return Flux.just("ran", "again");
    }

    @WithLock(name = "order", key = "#id", waitTimeout = "1s")
    Mono<String> impatient(long id) {
        return Mono.just("ran");
    }

    @WithLock(name = "order", key = "#id")
    Mono<Long> token(long id, LockHandle held) {
        return Mono.fromSupplier(() -> held.isHeld() && held.key().equals("order:" + id) ? held.fencingToken() : -1);
    }

    @WithLock(name = "order", key = "{#from, #to}")
    Mono<List<String>> move(long from, long to, List<LockHandle> held) {
        return Mono.just(held.stream().map(LockHandle::key).toList());
    }

    @WithLock(name = "order", key = "#ids")
    Mono<String> one(List<Long> ids, LockHandle held) {
        return Mono.just(held.key());
    }

    @WithLock(name = "order", key = "#id")
    Mono<Boolean> below(long id, LockHandle outer) {
        return client.withLock("order:" + id, inner -> Mono.just(inner.fencingToken() == outer.fencingToken()));
    }

    @WithLock(name = "order", key = "#id")
    Mono<String> throwsChecked(long id) throws IOException {
        throw new IOException("no file " + id);
    }

    @WithLock(name = "order", key = "#id")
    Mono<String> returnsNull(long id) {
        return null;
    }
}
