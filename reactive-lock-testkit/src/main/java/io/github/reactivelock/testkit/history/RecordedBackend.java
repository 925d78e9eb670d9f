package io.github.reactivelock.testkit.history;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.testkit.ForwardingBackend;
import io.github.reactivelock.testkit.history.HistoryEvent.Kind;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Records when a claim was sent, when the store had certainly queued it, and when it was served or withdrawn. */
final class RecordedBackend extends ForwardingBackend {

    private final History history;
    private final Map<String, String> waiting = new ConcurrentHashMap<>();

    RecordedBackend(LockBackend real, History history) {
        super(real);
        this.history = history;
    }

    @Override
    public Mono<ClaimResult> claim(Claim claim) {
        return Mono.defer(() -> {
            if (waiting.putIfAbsent(claim.id(), claim.key()) == null) {
                history.add(Kind.ASKED, claim.key(), claim.id(), 0, 0, claim.share());
            }
            return super.claim(claim).doOnNext(answer -> answered(claim, answer));
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
            return super.release(claim);
        });
    }

    @Override
    public Mono<Boolean> keep(Claim held, Claim kept) {
        return Mono.defer(() -> {
            if (waiting.remove(held.id()) != null) {
                history.add(Kind.WITHDRAWN, held.key(), held.id(), 0, 0);
            }
            return super.keep(held, kept);
        });
    }

    @Override
    public Flux<Signal> signals() {
        return super.signals().doOnNext(signal -> {
            if (signal instanceof Signal.Grant grant) {
                served(grant.claimId(), grant.fencingToken());
            }
        });
    }
}
