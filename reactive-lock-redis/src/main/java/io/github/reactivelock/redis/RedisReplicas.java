package io.github.reactivelock.redis;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.support.Carried;
import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.SilenceClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.util.concurrent.Queues;

/**
 * Has grants and renewals acknowledged by replicas. A grant is renewed once more, with {@code WAIT} behind that
 * renewal, because a grant that was pushed was written on another client's connection. One such question is under way
 * at a time, and what comes meanwhile shares the next, so waiting for replicas never holds up anything else.
 */
final class RedisReplicas {

    private record Request(List<Claim> claims, MonoSink<RenewalResult> sink) {}

    private static final Logger log = LoggerFactory.getLogger(RedisReplicas.class);
    // What the question may take beside the waiting.
    private static final Duration ROUND_TRIPS = Duration.ofSeconds(2);

    private final Function<List<Claim>, Mono<RenewalResult>> question;
    private final Supplier<String> server;
    private final Duration limit;
    private final SilenceClock silenceClock;
    private final Set<String> waiting = ConcurrentHashMap.newKeySet();
    private final Queue<Request> requests =
            Queues.<Request>unboundedMultiproducer().get();
    private final AtomicInteger unserved = new AtomicInteger();

    /**
     * The question renews claims and fails unless enough replicas have it in time.
     *
     * @param server which one is asked, for errors
     */
    RedisReplicas(
            Function<List<Claim>, Mono<RenewalResult>> question,
            Supplier<String> server,
            Duration timeout,
            SilenceClock silenceClock) {
        this.question = question;
        this.server = server;
        this.limit = timeout.plus(ROUND_TRIPS);
        this.silenceClock = silenceClock;
    }

    /** Renews claims of one slot. */
    Mono<RenewalResult> renew(List<Claim> claims) {
        return Mono.create(sink -> {
            requests.offer(new Request(claims, sink));
            if (unserved.getAndIncrement() == 0) {
                serve();
            }
        });
    }

    /** Lets a grant count only when replicas have it; the engine gives back one that never does. */
    Mono<ClaimResult> asked(Claim claim, Mono<ClaimResult> answer) {
        return Mono.defer(() -> {
            waiting.add(claim.id());
            return answer.flatMap(result -> {
                if (result instanceof ClaimResult.Busy) {
                    forget(claim);
                }
                return result instanceof ClaimResult.Granted ? confirmed(claim).thenReturn(result) : Mono.just(result);
            });
        });
    }

    private Mono<RenewalResult> confirmed(Claim claim) {
        return renew(List.of(claim))
                .flatMap(known -> {
                    Throwable refusal = known.refused().get(claim.id());
                    return refusal == null ? Mono.just(known) : Mono.error(refusal);
                })
                .filter(known -> known.renewed().contains(claim.id()))
                .switchIfEmpty(Mono.error(() -> new IllegalStateException("the grant was forgotten by a fail-over")));
    }

    /** Whether enough of them are there: they acknowledge the renewal of a claim that nothing is known of. */
    Mono<Void> probe(String key) {
        Claim none = new Claim(key, "probe", "probe", Duration.ofSeconds(1), Claim.Mode.TRY);
        return renew(List.of(none)).then();
    }

    /** Lets a lock count as kept only when replicas have it. */
    Mono<Boolean> kept(Claim kept, Mono<Boolean> answer) {
        return answer.flatMap(owned -> owned ? confirmed(kept).thenReturn(true) : Mono.just(false));
    }

    void forget(Claim claim) {
        waiting.remove(claim.id());
    }

    /** A pushed grant does not count yet: its claim is to ask, and no other. */
    Mono<Signal> unconfirmed(Signal signal) {
        if (!(signal instanceof Signal.Grant grant)) {
            return Mono.just(signal);
        }
        return waiting.contains(grant.claimId()) ? Mono.just(new Signal.RecheckClaim(grant.claimId())) : Mono.empty();
    }

    /** Called by the caller that raised the count from zero, and then at the end of each question. */
    private void serve() {
        List<Request> round = new ArrayList<>();
        List<Claim> claims = new ArrayList<>();
        int there = unserved.get();
        while (round.size() < there && claims.size() < Renewal.AT_ONCE) {
            Request next = requests.poll();
            round.add(next);
            claims.addAll(next.claims());
        }
        AtomicBoolean over = new AtomicBoolean();
        Runnable next = () -> {
            if (over.compareAndSet(false, true) && unserved.addAndGet(-round.size()) != 0) {
                serve();
            }
        };
        try {
            // It is asked for several flows, so in the name of none.
            Mono<RenewalResult> asked = DriverThreads.subscribing(question.apply(claims));
            Carried.byNobody(silenceClock.timeout(asked, limit, Mono.error(this::silence)))
                    .doFinally(end -> next.run())
                    .subscribe(
                            answer -> round.forEach(request -> request.sink().success(answer)),
                            error -> failed(round, error));
        } catch (Throwable e) { // a fatal one, which is not signalled: no later question would ever be answered
            failed(round, e);
            next.run();
        }
    }

    private TimeoutException silence() {
        return new TimeoutException("Redis at " + server.get() + " did not answer within " + limit.toMillis() + " ms");
    }

    private static void failed(List<Request> round, Throwable error) {
        log.debug("a question to replicas failed", error);
        round.forEach(request -> request.sink().error(error));
    }
}
