package io.github.reactivelock.quorum;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.Vote;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** A node of a quorum whose answers a test sets; what was asked of it goes into a log. */
final class ScriptedNode implements QuorumNode {

    private final int number;
    private final List<String> log;
    final Sinks.Many<Signal> signals = Sinks.many().unicast().onBackpressureBuffer();
    final Sinks.Many<LockEvent> events = Sinks.many().unicast().onBackpressureBuffer();
    final List<Long> raised = new ArrayList<>();
    final List<Long> proposed = new ArrayList<>();
    Duration uptime = Duration.ofDays(1);
    Mono<ClaimResult> vote = Mono.never();
    boolean olderWaits;
    /** Has the lock where the claim has not. */
    String owner = "somebody";

    boolean shares = true;
    Mono<Boolean> raise = Mono.just(true);
    Mono<Boolean> release = Mono.just(true);
    Mono<LockInfo> info = Mono.never();
    Mono<Boolean> force = Mono.just(false);
    Mono<RenewalResult> renewal = Mono.just(new RenewalResult(Set.of("one"), Map.of()));

    ScriptedNode(int number, List<String> log) {
        this.number = number;
        this.log = log;
    }

    @Override
    public boolean supports(Share share) {
        return shares || share.isWhole();
    }

    @Override
    public Mono<Vote> vote(Claim claim, long ticket, long proposal, Duration longestLease) {
        return Mono.defer(() -> {
            log.add(number + " votes");
            proposed.add(proposal);
            return vote.map(result -> new Vote(
                    result,
                    "server-" + number,
                    uptime,
                    olderWaits ? 0 : Vote.NOBODY,
                    result instanceof ClaimResult.Granted ? "" : owner,
                    0));
        });
    }

    @Override
    public Mono<Boolean> raise(Claim claim, long fencingToken, long votesNumber) {
        return Mono.defer(() -> {
            raised.add(fencingToken);
            return raise;
        });
    }

    @Override
    public Mono<ClaimResult> claim(Claim claim) {
        return Mono.never();
    }

    @Override
    public Mono<RenewalResult> renew(List<Claim> held) {
        return renewal;
    }

    @Override
    public Mono<Boolean> release(Claim claim) {
        return release;
    }

    @Override
    public Mono<Boolean> keep(Claim held, Claim kept) {
        return release;
    }

    @Override
    public Flux<Signal> signals() {
        return signals.asFlux();
    }

    @Override
    public Mono<LockInfo> inspect(String key) {
        return info;
    }

    @Override
    public Flux<LockEvent> events(String key) {
        return events.asFlux();
    }

    @Override
    public Mono<Boolean> forceRelease(String key, long fencingToken) {
        return force;
    }

    @Override
    public Mono<Void> close() {
        return Mono.empty();
    }

    @Override
    public String toString() {
        return "scripted node " + number;
    }
}
