package io.github.reactivelock.engine.cohort;

import io.github.reactivelock.engine.claim.Phase;
import io.github.reactivelock.engine.store.Services;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.SignalsRefusedException;
import io.github.reactivelock.spi.support.Carried;
import io.github.reactivelock.spi.support.EndlessRetry;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The subscription to the store's signals, begun anew after every interruption, and the claims they are passed to.
 */
final class SignalRouter {

    private static final Logger log = LoggerFactory.getLogger(SignalRouter.class);

    private final Services services;
    private final double jitter;
    private final Engine engine;
    private final Disposable.Swap signals = Disposables.swap();
    private volatile boolean connectedBefore;
    /** Pushes arrive, as far as is known. */
    private volatile boolean on;

    private volatile @Nullable SignalsRefusedException refusal;

    SignalRouter(Services services, double jitter, Engine engine) {
        this.services = services;
        this.jitter = jitter;
        this.engine = engine;
    }

    /** Why the store will push nothing, for as long as it refuses to. */
    @Nullable
    Throwable refusal() {
        return refusal;
    }

    boolean areOn() {
        return on;
    }

    /** Called once. */
    void listen() {
        Flux<Signal> all = Flux.defer(services.backend::signals)
                .concatWith(Mono.error(() -> new IllegalStateException("the store's signals ended")))
                .doOnNext(this::heard)
                .doOnError(this::interrupted)
                .retryWhen(EndlessRetry.after(Duration.ofMillis(50), Duration.ofSeconds(1))
                        .jitter(jitter)
                        .scheduler(services.timing.timer()));
        signals.update(Carried.byNobody(all).subscribe(signal -> {}, e -> log.error("signals of the store ended", e)));
    }

    void dispose() {
        signals.dispose();
    }

    private void interrupted(Throwable cause) {
        log.debug("signals of the store were interrupted", cause);
        on = false;
        engine.retention.giveBackAll();
        if (cause instanceof SignalsRefusedException refused) {
            refusal = refused;
            engine.tellAll(Phase::signalsRefused);
        }
    }

    private void heard(Signal signal) {
        if (signal instanceof Signal.Grant grant) {
            engine.tell(grant.claimId(), phase -> phase.pushed(grant));
        } else if (signal instanceof Signal.Suspect suspect) {
            engine.tell(suspect.claimId(), phase -> phase.suspected(suspect));
        } else if (signal instanceof Signal.Recall recall) {
            engine.tell(recall.claimId(), phase -> phase.recalled(recall.claimId()));
        } else if (signal instanceof Signal.RecheckClaim one) {
            engine.tell(one.claimId(), Phase::recheck);
        } else if (signal instanceof Signal.Recheck recheck) {
            engine.tellThoseOf(recheck.key(), Phase::recheck);
        } else {
            connected();
        }
    }

    /** Pushes begin. Those for holds may have been missed only if they had begun before. */
    private void connected() {
        boolean again = connectedBefore;
        connectedBefore = true;
        on = true;
        refusal = null;
        engine.tellAll(again ? Phase::reconnected : Phase::recheck);
        services.renewals.send();
    }
}
