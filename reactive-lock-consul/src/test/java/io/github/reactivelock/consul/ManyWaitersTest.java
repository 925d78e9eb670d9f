package io.github.reactivelock.consul;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;

/** A crowd of claims of one client on one lock: what leaves for the agent at a time. */
class ManyWaitersTest extends Fixture {

    private static final int MANY = 400;
    private static final int MANY_LOCKS = 500;

    @Test
    void aCrowdLeavesALittleAtATimeAndARenewalBeforeIt() {
        try (SlowAgent agent = new SlowAgent(server)) {
            ConsulLockBackend backend = opened(ConsulLockBackend.connect(
                    agent.address(), Consuls.patient().withCommandTimeout(Duration.ofMinutes(1))));
            Claim owner = claim();
            granted(Consuls.get(backend.claim(owner)));
            agent.holdUpClaims();
            List<Claim> waiting = Stream.generate(this::claim).limit(MANY).toList();

            List<CompletableFuture<ClaimResult>> answers = waiting.stream()
                    .map(claim -> backend.claim(claim).toFuture())
                    .toList();
            Consuls.until("claims have left", () -> agent.heldUp() >= Agents.COMMANDS);
            assertThat(Consuls.get(backend.renew(List.of(owner))).renewed()).isEqualTo(Set.of(owner.id()));
            assertThat(agent.heldUp()).as("of %d claims", MANY).isEqualTo(Agents.COMMANDS);
            assertThat(backend.holdsBack(waiting.get(MANY - 1))).isTrue();

            agent.letGo();
            assertThat(answers.stream().map(CompletableFuture::join)).allMatch(ClaimResult.Queued.class::isInstance);
            assertThat(backend.holdsBack(waiting.get(MANY - 1))).isFalse();
            closeAll();
        }
    }

    @Test
    void aCrowdBehindAClaimOfItsOwnClientNeedsNoWatch() {
        try (SlowAgent agent = new SlowAgent(server)) {
            ConsulLockBackend backend = opened(ConsulLockBackend.connect(agent.address(), Consuls.patient()));
            Queue<Signal> signals = listen(backend);
            Claim owner = claim();
            granted(Consuls.get(backend.claim(owner)));
            List<Claim> waiting = Stream.generate(this::claim).limit(20).toList();
            waiting.forEach(
                    claim -> assertThat(Consuls.get(backend.claim(claim))).isInstanceOf(ClaimResult.Queued.class));

            assertThat(Consuls.get(backend.release(owner))).isTrue();
            for (Claim next : waiting) {
                Consuls.until("it is granted", () -> signals.stream().anyMatch(signal -> isGrantOf(next, signal)));
                assertThat(Consuls.get(backend.release(next))).isTrue();
            }

            assertThat(agent.watches()).as("of %d waiters", waiting.size()).isZero();
            closeAll();
        }
    }

    @Test
    void eachOfManyLocksIsWatchedAllTheTime() {
        try (SlowAgent agent = new SlowAgent(server)) {
            ConsulLockBackend holder = backend();
            ConsulLockBackend waiter = opened(ConsulLockBackend.connect(agent.address(), Consuls.patient()));
            Queue<Signal> signals = listen(waiter);
            List<Claim> held = claimsOnMany();
            List<Claim> waiting = claimsOnMany();
            assertThat(answers(holder, held)).allMatch(ClaimResult.Granted.class::isInstance);
            List<String> obstacles = Consuls.keys(server).stream()
                    .filter(name -> !name.contains("!"))
                    .toList();
            assertThat(answers(waiter, waiting)).allMatch(ClaimResult.Queued.class::isInstance);

            Consuls.until("the end of each hold would be told", () -> {
                List<String> watched = agent.watched();
                return obstacles.stream().allMatch(key -> watched.stream().anyMatch(key::startsWith));
            });
            // One that was left counts until this agent learns of it, so that there may be more for a moment.
            Consuls.until("no more are watched", () -> agent.watched().size() <= Agents.WATCHES);

            List<Claim> inAnyOrder = new ArrayList<>(held);
            Collections.shuffle(inAnyOrder, new Random(48));
            assertThat(Consuls.get(Flux.fromIterable(inAnyOrder)
                            .flatMap(holder::release, 8)
                            .all(released -> released)))
                    .isTrue();
            Consuls.until("all are handed over", () -> {
                Set<String> granted = signals.stream()
                        .filter(Signal.Grant.class::isInstance)
                        .map(grant -> ((Signal.Grant) grant).claimId())
                        .collect(Collectors.toSet());
                return waiting.stream().allMatch(claim -> granted.contains(claim.id()));
            });
            closeAll();
        }
    }

    /** Every fifth is for a unit. */
    private List<Claim> claimsOnMany() {
        return IntStream.range(0, MANY_LOCKS)
                .mapToObj(i -> new Claim(
                        key + i,
                        UUID.randomUUID().toString(),
                        "owner",
                        LEASE,
                        Claim.Mode.QUEUE,
                        Claim.Keeping.RENEWED,
                        i % 5 == 0 ? new Share(1, 1) : Share.WHOLE))
                .toList();
    }

    private static List<ClaimResult> answers(ConsulLockBackend backend, List<Claim> claims) {
        return Objects.requireNonNull(Flux.fromIterable(claims)
                .flatMap(backend::claim, 16)
                .collectList()
                .block(Consuls.LIMIT.multipliedBy(3)));
    }

    @Test
    void aClaimBehindAnEndedOrKeptOneOfItsClientIsServed() {
        ConsulLockBackend backend = backend();
        Queue<Signal> signals = listen(backend);
        Claim owner = claim();
        Claim leaving = claim();
        Claim last = claim();
        granted(Consuls.get(backend.claim(owner)));
        Consuls.done(backend.claim(leaving));
        Consuls.done(backend.claim(last));

        assertThat(Consuls.get(backend.release(leaving))).isFalse();
        Claim kept = claim();
        assertThat(Consuls.get(backend.keep(owner, kept))).isTrue();
        assertThat(Consuls.get(backend.release(kept))).isTrue();

        Consuls.until("it is granted", () -> signals.stream().anyMatch(signal -> isGrantOf(last, signal)));
        assertThat(Consuls.get(backend.release(last))).isTrue();
    }

    private static boolean isGrantOf(Claim claim, Signal signal) {
        return signal instanceof Signal.Grant grant && grant.claimId().equals(claim.id());
    }
}
