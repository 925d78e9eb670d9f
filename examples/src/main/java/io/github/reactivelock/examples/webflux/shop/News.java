package io.github.reactivelock.examples.webflux.shop;

import io.github.reactivelock.HoldState;
import io.github.reactivelock.LockException;
import io.github.reactivelock.LockListener;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockRequest;
import io.github.reactivelock.LockTimeoutException;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.examples.webflux.shop.Happening.What;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Sinks;
import reactor.util.context.Context;

/** Hears what the locks of this till do, as the starter has every {@link LockListener} bean hear it, and passes it on live. */
@Component
final class News implements LockListener {

    private static final String ORDER = "order";
    private static final Duration EMITTING_LIMIT = Duration.ofSeconds(1);

    private final Sinks.Many<Happening> told = Sinks.many().multicast().directBestEffort();

    /** What happens from now on, after word that the till is open. */
    Flux<Happening> live() {
        return Flux.merge(
                told.asFlux().onBackpressureBuffer(),
                Flux.just(new Happening(What.OPEN, "", 0, "", now(), "")));
    }

    /** A change of Context that has the listener know which order asks for a lock. */
    static Context ofOrder(Context context, int number) {
        return context.put(ORDER, number);
    }

    @Override
    public void waiting(LockRequest request) {
        tell(What.WAITING, request, "", "");
    }

    @Override
    public void acquired(LockRequest request, long fencingToken, Duration waited) {
        tell(What.ACQUIRED, request, Long.toString(fencingToken), "");
    }

    @Override
    public void timedOut(LockRequest request, LockTimeoutException timeout) {
        tell(What.LEFT, request, "", "");
    }

    @Override
    public void cancelled(LockRequest request) {
        tell(What.LEFT, request, "", "");
    }

    @Override
    public void unavailable(LockRequest request, LockException failure) {
        tell(What.LEFT, request, "", "");
    }

    @Override
    public void atRisk(LockRequest request, long fencingToken, HoldState.AtRisk risk) {
        tell(What.AT_RISK, request, Long.toString(fencingToken), "");
    }

    @Override
    public void safeAgain(LockRequest request, long fencingToken) {
        tell(What.SAFE, request, Long.toString(fencingToken), "");
    }

    @Override
    public void released(LockRequest request, long fencingToken, Duration held) {
        tell(What.RELEASED, request, Long.toString(fencingToken), "");
    }

    @Override
    public void lost(LockRequest request, LockLostException loss) {
        tell(What.LOST, request, Long.toString(loss.fencingToken()), loss.reason().text());
    }

    @Override
    public void releaseFailed(LockRequest request, LockUnavailableException failure) {
        tell(What.RELEASED, request, "", "");
    }

    private void tell(What what, LockRequest request, String token, String why) {
        String key = request.key();
        told.emitNext(
                new Happening(
                        what,
                        key.substring(key.indexOf(':') + 1),
                        request.context().getOrDefault(ORDER, 0),
                        token,
                        now(),
                        why),
                Sinks.EmitFailureHandler.busyLooping(EMITTING_LIMIT));
    }

    private static long now() {
        return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
    }
}
