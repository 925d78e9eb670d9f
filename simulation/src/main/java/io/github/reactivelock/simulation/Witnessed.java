package io.github.reactivelock.simulation;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LossReason;
import io.github.reactivelock.testkit.ForwardingBackend;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The store as the engine sees it, with a look at what the engine is about to hear. */
final class Witnessed extends ForwardingBackend {

    private final Oracle oracle;

    Witnessed(LockBackend store, Oracle oracle) {
        super(store);
        this.oracle = oracle;
    }

    @Override
    public Mono<ClaimResult> claim(Claim claim) {
        if (claim.recallable()) {
            oracle.kept.claims(claim);
        }
        return super.claim(claim).doOnNext(answer -> {
            oracle.look(List.of(claim));
            if (answer instanceof ClaimResult.Granted) {
                oracle.kept.grants(claim.id());
            }
            if (answer instanceof ClaimResult.Queued queued) {
                oracle.told(claim, queued.newestToken());
            } else if (answer instanceof ClaimResult.Granted granted) {
                oracle.told(claim, granted.fencingToken() - 1);
            }
        });
    }

    @Override
    public Flux<Signal> signals() {
        return super.signals().doOnNext(signal -> {
            if (signal instanceof Signal.Suspect suspect && suspect.reason() == LossReason.FORCED) {
                oracle.heardForced(suspect.claimId());
            } else if (signal instanceof Signal.Grant grant) {
                oracle.kept.grants(grant.claimId());
            } else if (signal instanceof Signal.Recall recall) {
                oracle.kept.calls(recall.claimId());
            }
        });
    }

    @Override
    public Mono<Boolean> release(Claim claim) {
        return super.release(claim).doOnSubscribe(asked -> oracle.kept.givesBack(claim.id()));
    }

    @Override
    public Mono<RenewalResult> renew(List<Claim> held) {
        return super.renew(held).doOnNext(answer -> oracle.look(held));
    }
}
