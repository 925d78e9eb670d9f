package io.github.reactivelock.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.lease.LeaseTimeToLiveResponse;
import io.etcd.jetcd.options.LeaseOption;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * One lease at the store and the claims whose keys are bound to it. It is kept alive by single questions, and only when
 * an answer is needed that the last one does not give. Four times in its life such a question is joined by another, for
 * the list of its keys: it shows claims whose keys were deleted, and keys of claims that ended before their put
 * arrived. Claims that were not asked about for a lease of their own are ended then. Safe for use from any thread.
 */
final class Lease {

    private static final Logger log = LoggerFactory.getLogger(Lease.class);

    final long id;
    private final Etcd etcd;
    private final ClaimRegistry registry;
    private final long ttl;
    private final Map<String, ClaimState> claims = new ConcurrentHashMap<>();
    private final AtomicReference<@Nullable Round> latest = new AtomicReference<>();
    private volatile long confirmedAt;
    private volatile long listedAt;
    private volatile boolean ended;

    Lease(long id, Duration ttl, long askedAt, Etcd etcd, ClaimRegistry registry) {
        this.id = id;
        this.ttl = ttl.toNanos();
        this.confirmedAt = askedAt;
        this.listedAt = askedAt;
        this.etcd = etcd;
        this.registry = registry;
    }

    void add(ClaimState state) {
        claims.put(state.tail, state);
    }

    void remove(ClaimState state) {
        claims.remove(state.tail, state);
    }

    /** Those whose keys are bound to it now. */
    Collection<ClaimState> claims() {
        return claims.values();
    }

    boolean hasEnded() {
        return ended;
    }

    /** Useless to a new claim: gone, or left alone for so long that it must be gone. */
    boolean isOver() {
        return ended || (claims.isEmpty() && confirmedAt + ttl - etcd.now() <= 0);
    }

    /** The server said that it does not know this lease. */
    void end() {
        if (!ended) {
            ended = true;
            registry.ended(this);
        }
    }

    /** Ends with an answer that says that it is gone; whether this is one. */
    boolean endsWith(Throwable error) {
        boolean isGone = error instanceof EtcdFailure failure && failure.isLeaseGone();
        if (isGone) {
            end();
        }
        return isGone;
    }

    /** Whether the server knows it, which is asked. */
    Mono<Boolean> isThere() {
        return etcd.timeToLive(id, LeaseOption.DEFAULT).map(answer -> {
            if (answer.getTTL() < 0) {
                end();
            }
            return !ended;
        });
    }

    /** As the other, for what was asked about a claim at a time. */
    Mono<Boolean> cover(ClaimState state, long askedAt) {
        return cover(askedAt + state.claim.lease().toNanos()).thenReturn(true);
    }

    /** Completes when the store is sure to keep the lease until then, asking it only if that is not known yet. */
    Mono<Void> cover(long until) {
        if (ended) {
            return Mono.error(EtcdFailure.leaseGone(id));
        }
        if (confirmedAt + ttl - until >= 0) {
            return Mono.empty();
        }
        while (true) {
            Round present = latest.get();
            if (present != null && !present.failed && present.askedAt + ttl - until >= 0) {
                return present.answer;
            }
            Round fresh = new Round();
            if (latest.compareAndSet(present, fresh)) {
                return fresh.answer;
            }
        }
    }

    /** One question to the store, shared by all callers that its answer serves. */
    private final class Round {

        final long askedAt = etcd.now();
        volatile boolean failed;
        final Mono<Void> answer = etcd.keepAlive(id)
                .doOnNext(seconds -> confirmedAt = Math.max(confirmedAt, askedAt))
                .then(Mono.defer(this::listIfDue))
                .doOnError(error -> failed = true)
                .doOnError(error -> {
                    endsWith(error);
                })
                .cache();

        private Mono<Void> listIfDue() {
            long now = etcd.now();
            if (now - listedAt < ttl / 4) {
                return Mono.empty();
            }
            listedAt = now;
            long listing = System.nanoTime();
            return etcd.timeToLive(id, LeaseOption.builder().withAttachedKeys().build())
                    .flatMap(list -> compare(list, listing))
                    .onErrorResume(error -> {
                        log.debug("the keys of lease {} could not be listed", Long.toHexString(id), error);
                        return Mono.empty();
                    });
        }
    }

    private Mono<Void> compare(LeaseTimeToLiveResponse list, long askedAt) {
        if (list.getTTL() < 0) {
            end();
            return Mono.empty();
        }
        Set<String> present = new HashSet<>();
        Set<ByteSequence> strays = new HashSet<>();
        for (ByteSequence name : list.getKeys()) {
            String tail = KeyLayout.tail(name);
            present.add(tail);
            if (!tail.isEmpty() && !claims.containsKey(tail)) {
                strays.add(name);
            }
        }
        claims.values().stream()
                .filter(state -> !present.contains(state.tail) && state.missingSince(askedAt))
                .forEach(registry::vanished);
        long now = System.nanoTime();
        claims.values().stream().filter(state -> state.isForsaken(now)).forEach(registry::forsaken);
        return Flux.fromIterable(strays)
                .flatMap(name -> registry.stray(name, id), 8)
                .then();
    }
}
