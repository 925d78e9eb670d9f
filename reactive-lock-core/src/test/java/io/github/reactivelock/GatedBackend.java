package io.github.reactivelock;

import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.Share;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A store in memory whose commands, while the gate is shut, are carried out by whoever lets them through. */
public final class GatedBackend implements LockBackend {

    private final InMemoryLockBackend store;
    private final Queue<Runnable> waiting = new ConcurrentLinkedQueue<>();
    private volatile boolean isShut;

    public GatedBackend(InMemoryLockBackend store) {
        this.store = store;
    }

    public void shut() {
        isShut = true;
    }

    public void open() {
        isShut = false;
        while (letOneThrough()) {
            // the next one
        }
    }

    /** The oldest that waits; false if none does. */
    public boolean letOneThrough() {
        Runnable next = waiting.poll();
        if (next != null) {
            next.run();
        }
        return next != null;
    }

    public int waiting() {
        return waiting.size();
    }

    private <T> Mono<T> gated(Mono<T> command) {
        return Mono.create(sink -> {
            Runnable run = () -> {
                Disposable unused = command.subscribe(sink::success, sink::error);
            };
            if (isShut) {
                waiting.add(run);
                if (!isShut) { // opened meanwhile, by one who did not see it
                    open();
                }
            } else {
                run.run();
            }
        });
    }

    @Override
    public boolean supports(Share share) {
        return store.supports(share);
    }

    @Override
    public boolean isReady() {
        return store.isReady();
    }

    @Override
    public Mono<Void> ready() {
        return store.ready();
    }

    @Override
    public Mono<ClaimResult> claim(Claim claim) {
        return gated(store.claim(claim));
    }

    @Override
    public Mono<RenewalResult> renew(List<Claim> held) {
        return gated(store.renew(held));
    }

    @Override
    public Mono<Boolean> keep(Claim held, Claim kept) {
        return gated(store.keep(held, kept));
    }

    @Override
    public Mono<Boolean> release(Claim claim) {
        return gated(store.release(claim));
    }

    @Override
    public Flux<Signal> signals() {
        return store.signals();
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
