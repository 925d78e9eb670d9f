package io.github.reactivelock.reliability;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;
import reactor.core.publisher.Mono;

/**
 * A store that carries a claim out at once, and lets the client hear of its answers and of its pushes when told to, so
 * that either may overtake the other.
 */
final class LateAnswers implements LockBackend {

    private final LockBackend store;
    private final Queue<Runnable> answers = new ConcurrentLinkedQueue<>();
    private final Queue<Runnable> pushes = new ConcurrentLinkedQueue<>();

    LateAnswers(LockBackend store) {
        this.store = store;
    }

    /** False if there was none to give. */
    boolean answerOne() {
        return next(answers);
    }

    /** False if there was none to give. */
    boolean pushOne() {
        return next(pushes);
    }

    private static boolean next(Queue<Runnable> kept) {
        Runnable first = kept.poll();
        if (first != null) {
            first.run();
        }
        return first != null;
    }

    @Override
    public boolean isReady() {
        return store.isReady();
    }

    @Override
    public boolean holdsBack(Claim claim) {
        return store.holdsBack(claim);
    }

    @Override
    public Mono<Void> ready() {
        return store.ready();
    }

    @Override
    public Mono<ClaimResult> claim(Claim claim) {
        return Mono.create(sink -> {
            var unused = store.claim(claim)
                    .subscribe(
                            answer -> answers.add(() -> sink.success(answer)),
                            error -> answers.add(() -> sink.error(error)));
        });
    }

    @Override
    public Mono<RenewalResult> renew(List<Claim> held) {
        return store.renew(held);
    }

    @Override
    public Mono<Boolean> keep(Claim held, Claim kept) {
        return store.keep(held, kept);
    }

    @Override
    public Mono<Boolean> release(Claim claim) {
        return store.release(claim);
    }

    @Override
    public Flux<Signal> signals() {
        return Flux.create(sink -> {
            var listening = store.signals().subscribe(signal -> pushes.add(() -> push(sink, signal)), sink::error);
            var unused = sink.onDispose(listening);
        });
    }

    private static void push(FluxSink<Signal> client, Signal signal) {
        var unused = client.next(signal);
    }

    @Override
    public Mono<LockInfo> inspect(String key) {
        return store.inspect(key);
    }

    @Override
    public Flux<LockEvent> events(String key) {
        return store.events(key);
    }

    @Override
    public Mono<Boolean> forceRelease(String key, long fencingToken) {
        return store.forceRelease(key, fencingToken);
    }

    @Override
    public Mono<Void> close() {
        return store.close();
    }
}
