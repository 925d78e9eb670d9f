package io.github.reactivelock.testkit;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.LockPage;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.Share;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Hands every command to another backend. A subclass overrides those that it watches or disturbs. */
public abstract class ForwardingBackend implements LockBackend {

    private final LockBackend real;

    /**
     * Changes nothing by itself.
     *
     * @param real the backend behind this one
     */
    protected ForwardingBackend(LockBackend real) {
        this.real = Objects.requireNonNull(real, "real");
    }

    @Override
    public String toString() {
        return real.toString();
    }

    @Override
    public boolean isReady() {
        return real.isReady();
    }

    @Override
    public Mono<Void> ready() {
        return real.ready();
    }

    @Override
    public String whySilent() {
        return real.whySilent();
    }

    @Override
    public String whySilent(String key) {
        return real.whySilent(key);
    }

    @Override
    public Optional<String> whyNotPushed() {
        return real.whyNotPushed();
    }

    @Override
    public boolean supportsRecall() {
        return real.supportsRecall();
    }

    @Override
    public boolean hearsRecalls() {
        return real.hearsRecalls();
    }

    @Override
    public Mono<Void> recall(String key) {
        return real.recall(key);
    }

    @Override
    public boolean supports(Share share) {
        return real.supports(share);
    }

    @Override
    public String whyUnsupported(Share share) {
        return real.whyUnsupported(share);
    }

    @Override
    public boolean holdsBack(Claim claim) {
        return real.holdsBack(claim);
    }

    @Override
    public Mono<ClaimResult> claim(Claim claim) {
        return real.claim(claim);
    }

    @Override
    public Mono<RenewalResult> renew(List<Claim> held) {
        return real.renew(held);
    }

    @Override
    public Mono<Boolean> release(Claim claim) {
        return real.release(claim);
    }

    @Override
    public Mono<Boolean> keep(Claim held, Claim kept) {
        return real.keep(held, kept);
    }

    @Override
    public Flux<Signal> signals() {
        return real.signals();
    }

    @Override
    public Mono<LockInfo> inspect(String key) {
        return real.inspect(key);
    }

    @Override
    public Mono<Void> probe(String key) {
        return real.probe(key);
    }

    @Override
    public Mono<Boolean> isCurrent(String key, long fencingToken) {
        return real.isCurrent(key, fencingToken);
    }

    @Override
    public Mono<LockPage> list(String prefix, String from) {
        return real.list(prefix, from);
    }

    @Override
    public Flux<LockEvent> events(String key) {
        return real.events(key);
    }

    @Override
    public Mono<Boolean> forceRelease(String key, long fencingToken) {
        return real.forceRelease(key, fencingToken);
    }

    @Override
    public Mono<Void> close() {
        return real.close();
    }
}
