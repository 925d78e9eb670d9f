package io.github.reactivelock.reliability.simulation;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.Share;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The store as the engine sees it, with a look at what the engine is about to hear. */
record Witnessed(LockBackend store, Oracle oracle) implements LockBackend {

    @Override
    public boolean isReady() {
        return store.isReady();
    }

    @Override
    public Mono<Void> ready() {
        return store.ready();
    }

    @Override
    public boolean supports(Share share) {
        return store.supports(share);
    }

    @Override
    public Mono<ClaimResult> claim(Claim claim) {
        return store.claim(claim).doOnNext(answer -> {
            oracle.look(List.of(claim));
            if (answer instanceof ClaimResult.Queued queued) {
                oracle.told(claim, queued.newestToken());
            } else if (answer instanceof ClaimResult.Granted granted) {
                oracle.told(claim, granted.fencingToken() - 1);
            }
        });
    }

    @Override
    public boolean holdsBack(Claim claim) {
        return store.holdsBack(claim);
    }

    @Override
    public Mono<RenewalResult> renew(List<Claim> held) {
        return store.renew(held).doOnNext(answer -> oracle.look(held));
    }

    @Override
    public Mono<Boolean> release(Claim claim) {
        return store.release(claim);
    }

    @Override
    public Mono<Boolean> keep(Claim held, Claim kept) {
        return store.keep(held, kept);
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
