package io.github.reactivelock.testkit.history;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.LockPage;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.testkit.history.HistoryEvent.Kind;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Records when a claim was sent, when the store had certainly queued it, and when it was served or withdrawn. */
final class RecordedBackend implements LockBackend {

    private final LockBackend real;
    private final History history;
    private final Map<String, String> waiting = new ConcurrentHashMap<>();

    RecordedBackend(LockBackend real, History history) {
        this.real = real;
        this.history = history;
    }

    @Override
    public boolean isReady() {
        return real.isReady();
    }

    @Override
    public boolean holdsBack(Claim claim) {
        return real.holdsBack(claim);
    }

    @Override
    public Mono<Void> ready() {
        return real.ready();
    }

    @Override
    public Mono<ClaimResult> claim(Claim claim) {
        return Mono.defer(() -> {
            if (waiting.putIfAbsent(claim.id(), claim.key()) == null) {
                history.add(Kind.ASKED, claim.key(), claim.id(), 0, 0);
            }
            return real.claim(claim).doOnNext(answer -> answered(claim, answer));
        });
    }

    private void answered(Claim claim, ClaimResult answer) {
        if (answer instanceof ClaimResult.Granted granted) {
            served(claim.id(), granted.fencingToken());
        } else if (answer instanceof ClaimResult.Queued) {
            history.add(Kind.QUEUED, claim.key(), claim.id(), 0, 0);
        } else {
            waiting.remove(claim.id());
        }
    }

    private void served(String id, long token) {
        String key = waiting.get(id);
        if (key != null) {
            history.add(Kind.SERVED, key, id, token, 0);
        }
    }

    @Override
    public Mono<Boolean> release(Claim claim) {
        return Mono.defer(() -> {
            if (waiting.remove(claim.id()) != null) {
                history.add(Kind.WITHDRAWN, claim.key(), claim.id(), 0, 0);
            }
            return real.release(claim);
        });
    }

    @Override
    public Mono<Boolean> keep(Claim held, Claim kept) {
        return Mono.defer(() -> {
            if (waiting.remove(held.id()) != null) {
                history.add(Kind.WITHDRAWN, held.key(), held.id(), 0, 0);
            }
            return real.keep(held, kept);
        });
    }

    @Override
    public Flux<Signal> signals() {
        return real.signals().doOnNext(signal -> {
            if (signal instanceof Signal.Grant grant) {
                served(grant.claimId(), grant.fencingToken());
            }
        });
    }

    @Override
    public Mono<RenewalResult> renew(List<Claim> held) {
        return real.renew(held);
    }

    @Override
    public Mono<LockInfo> inspect(String key) {
        return real.inspect(key);
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
