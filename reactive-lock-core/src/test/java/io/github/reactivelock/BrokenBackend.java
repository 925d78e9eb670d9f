package io.github.reactivelock;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Throws from every method instead of answering. */
public final class BrokenBackend implements LockBackend {
    @Override
    public String toString() {
        return "a broken store";
    }

    @Override
    public Mono<ClaimResult> claim(Claim claim) {
        throw new IllegalStateException("broken");
    }

    @Override
    public Mono<RenewalResult> renew(List<Claim> held) {
        throw new IllegalStateException("broken");
    }

    @Override
    public Mono<Boolean> release(Claim claim) {
        throw new IllegalStateException("broken");
    }

    @Override
    public Flux<Signal> signals() {
        throw new IllegalStateException("broken");
    }

    @Override
    public Mono<LockInfo> inspect(String key) {
        throw new IllegalStateException("broken");
    }

    @Override
    public Flux<LockEvent> events(String key) {
        throw new IllegalStateException("broken");
    }

    @Override
    public Mono<Boolean> forceRelease(String key, long fencingToken) {
        throw new IllegalStateException("broken");
    }

    @Override
    public Mono<Void> close() {
        throw new IllegalStateException("broken");
    }
}
