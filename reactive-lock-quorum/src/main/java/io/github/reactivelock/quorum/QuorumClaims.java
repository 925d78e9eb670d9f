package io.github.reactivelock.quorum;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** What is known of the claims that ask or hold, until each is withdrawn by its release. */
final class QuorumClaims {

    private static final long SAME_MOMENT = 1_000_000;

    private static final int MOST_OLD = 4_096;

    /** A claim that was withdrawn. */
    private record Old(QuorumClaim known, long until) {}

    private final Map<String, QuorumClaim> byId = new ConcurrentHashMap<>();
    /** Those with ids of their own at some nodes; guarded by its monitor. While it has any, one timer runs. */
    private final Map<String, Old> old = new LinkedHashMap<>();

    private final Sinks.Many<Signal> late = Sinks.many().multicast().directBestEffort();

    private final Surroundings surroundings;
    private final AtomicLong lastTicket = new AtomicLong(Long.MIN_VALUE);

    QuorumClaims(Surroundings surroundings) {
        this.surroundings = surroundings;
    }

    /** The claim as it is known, or anew if it was withdrawn. */
    QuorumClaim asking(Claim claim) {
        return byId.compute(
                claim.id(),
                (id, known) -> known == null
                        ? new QuorumClaim(surroundings, nextTicket())
                        : known.isWithdrawn() ? new QuorumClaim(surroundings, nextTicket(), known.ids()) : known);
    }

    /** No two claims of a client have the same, or neither would be the older one; a clock that was set back counts. */
    private long nextTicket() {
        long now = QuorumClaim.ticket(surroundings);
        return lastTicket.updateAndGet(last -> now <= last && now > last - SAME_MOMENT ? last + 1 : now);
    }

    /** The claim by its id at the node. */
    Claim at(int node, Claim claim) {
        QuorumClaim known = byId.get(claim.id());
        return known == null ? claim : known.ids().at(node, claim);
    }

    /** A node's answer by the engine's ids, without votes that are being given back. */
    RenewalResult counted(int node, RenewalResult answer) {
        Map<String, LossReason> lost = new HashMap<>();
        answer.lost().forEach((id, reason) -> lost.put(NodeIds.original(id), reason));
        return new RenewalResult(
                answer.renewed().stream()
                        .filter(id -> isVoteOfNow(node, id))
                        .map(NodeIds::original)
                        .collect(Collectors.toSet()),
                lost);
    }

    private boolean isVoteOfNow(int node, String id) {
        QuorumClaim known = byId.get(NodeIds.original(id));
        return known == null || known.ids().isVoteOfNow(node, id);
    }

    /** A round of it has ended. */
    void forgetIfWithdrawn(Claim claim, QuorumClaim asked) {
        if (asked.isWithdrawn()) {
            forget(claim, asked);
        }
    }

    void renewing(List<Claim> held) {
        held.forEach(claim -> byId.computeIfPresent(claim.id(), (id, known) -> {
            known.renewing(claim.lease());
            return known;
        }));
    }

    /** A majority has answered. */
    void renewed(List<Claim> held, RenewalResult result, long asked) {
        for (Claim claim : held) {
            QuorumClaim known = known(claim);
            if (known != null && result.renewed().contains(claim.id())) {
                known.renewed(claim.lease(), asked);
            }
        }
    }

    @Nullable
    QuorumClaim known(Claim claim) {
        return byId.get(claim.id());
    }

    /** No question follows. The claim by its id at each node, for what ends it there. */
    List<Claim> withdraw(Claim claim, int nodes) {
        QuorumClaim known = byId.get(claim.id());
        if (known == null) {
            return Collections.nCopies(nodes, claim);
        }
        known.withdraw();
        forget(claim, known);
        return IntStream.range(0, nodes)
                .mapToObj(node -> known.ids().at(node, claim))
                .toList();
    }

    /**
     * Where nodes know it by ids of their own, not before its lease is over: until then its release may be said again.
     * No more than some thousands are remembered; an older one's votes run out with its lease.
     */
    private void forget(Claim claim, QuorumClaim known) {
        if (!known.ids().differ()) {
            byId.remove(claim.id(), known);
            return;
        }
        boolean isFirst;
        synchronized (old) {
            isFirst = old.isEmpty();
            old.remove(claim.id());
            old.put(claim.id(), new Old(known, now() + claim.lease().toNanos()));
            if (old.size() > MOST_OLD) {
                forgetOldest();
            }
        }
        if (isFirst) {
            forgetLater(claim.lease());
        }
    }

    private void forgetOldest() {
        Iterator<Map.Entry<String, Old>> first = old.entrySet().iterator();
        Map.Entry<String, Old> oldest = first.next();
        byId.remove(oldest.getKey(), oldest.getValue().known);
        first.remove();
    }

    private long now() {
        return surroundings.nanoClock().getAsLong();
    }

    private void forgetLater(Duration time) {
        surroundings.timer().schedule(this::forgetOld, time.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** In the order in which they were withdrawn, so one with a short lease may wait for another. */
    private void forgetOld() {
        long next = 0;
        boolean isMore;
        synchronized (old) {
            while (!old.isEmpty() && (next = old.values().iterator().next().until - now()) <= 0) {
                forgetOldest();
            }
            isMore = !old.isEmpty();
        }
        if (isMore) {
            forgetLater(Duration.ofNanos(next));
        }
    }

    /** Claims that are to ask again because of {@link #heardLate}. */
    Flux<Signal> late() {
        return late.asFlux();
    }

    /**
     * A node gave its vote after the round was over. It counts like one that is pushed: unless the claim asks again it
     * would keep the vote from all others, until its patience ends. Tries ask again by themselves.
     */
    void heardLate(Claim claim, QuorumClaim known) {
        if (known.isTryingOn()) {
            return;
        }
        Runnable ask = () -> {
            if (known.isWaiting() && !known.isWithdrawn()) {
                late.tryEmitNext(new Signal.RecheckClaim(claim.id())); // the timer is one thread
            }
        };
        surroundings.timer().schedule(ask, known.moment().toNanos(), TimeUnit.NANOSECONDS);
    }

    /** How many claims are known. */
    int size() {
        return byId.size();
    }

    /**
     * What a node pushed, by the engine's ids. Its grant is only a vote: it makes the claim ask all nodes, at once if
     * there are enough votes, else in a moment.
     */
    Mono<Signal> pushed(int node, Signal signal, int majority) {
        if (signal instanceof Signal.Suspect suspect) {
            return Mono.just(new Signal.Suspect(NodeIds.original(suspect.claimId()), suspect.reason()));
        }
        if (signal instanceof Signal.RecheckClaim one) {
            return Mono.just(new Signal.RecheckClaim(NodeIds.original(one.claimId())));
        }
        if (!(signal instanceof Signal.Grant grant)) {
            return Mono.just(signal);
        }
        String id = NodeIds.original(grant.claimId());
        QuorumClaim known = byId.get(id);
        if (known == null || known.isWithdrawn() || !known.isWaiting() || !isVoteOfNow(node, grant.claimId())) {
            return Mono.empty();
        }
        boolean isEnough = known.add(node) >= majority;
        if (known.isTryingOn()) {
            if (isEnough) {
                known.endRest();
            }
            return Mono.empty();
        }
        Mono<Signal> recheck = Mono.just(new Signal.RecheckClaim(id));
        return isEnough
                ? recheck
                : Mono.delay(known.moment(), surroundings.timer())
                        .flatMap(late -> known.isWaiting() ? recheck : Mono.empty());
    }
}
