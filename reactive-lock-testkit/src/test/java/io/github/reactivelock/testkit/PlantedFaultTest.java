package io.github.reactivelock.testkit;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.RenewalResult;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import org.assertj.core.api.ThrowingConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;

/** The contract is tested itself: a store with a planted fault must fail the cases that look for it. */
class PlantedFaultTest {

    private final AtomicLong tokens = new AtomicLong(1_000_000);

    private Mono<ClaimResult> grantedTwice(Mono<ClaimResult> claim) {
        return claim.map(answer -> answer instanceof ClaimResult.Granted
                ? answer
                : new ClaimResult.Granted(tokens.incrementAndGet() << LockBackend.PASS_BITS, Duration.ofSeconds(30)));
    }

    private Mono<ClaimResult> withAFallingToken(Mono<ClaimResult> claim) {
        return claim.map(answer -> answer instanceof ClaimResult.Granted granted
                ? new ClaimResult.Granted(tokens.decrementAndGet() << LockBackend.PASS_BITS, granted.lease())
                : answer);
    }

    /** By an assertion, or by a loss where the engine noticed the fault before the case did. */
    private static <T extends Cases> void assertFails(T cases, ThrowingConsumer<T> contractCase) {
        assertThatThrownBy(() -> contractCase.accept(cases))
                .isInstanceOfAny(AssertionError.class, LockLostException.class);
        cases.close();
    }

    @ParameterizedTest
    @EnumSource
    void aStoreThatGrantsTwiceLosesUpdates(Fairness fairness) {
        Faulty store = new Faulty(this::grantedTwice);

        assertFails(store.new Exclusion(), cases -> cases.noUpdateIsLostAmongSeveralClients(fairness));
    }

    @Test
    void aStoreThatGrantsTwiceDoesNotKeepOthersOut() {
        Faulty store = new Faulty(this::grantedTwice);

        assertFails(store.new Exclusion(), ExclusionCases::tryAcquireIsEmptyWhileAnotherClientHoldsTheLock);
        assertFails(store.new Exclusion(), ExclusionCases::severalKeysTakenInOppositeOrdersDoNotDeadlock);
        assertFails(store.new Keys(), KeyCases::oddKeysDoNotCollideAndWorkLikeAnyOther);
        assertFails(store.new Reentrancy(), ReentrancyCases::aHoldOfAnotherClientIsNotJoined);
    }

    @Test
    void aStoreWhoseTokensFallIsFound() {
        Faulty store = new Faulty(this::withAFallingToken);

        assertFails(store.new Tokens(), TokenCases::tokensRiseWhenClientsTakeTurnsAtALockThatIsFreeInBetween);
        assertFails(store.new Tokens(), TokenCases::tokensRiseAcrossAForcedRelease);
    }

    @Test
    void aStoreWhoseBatchesFailAsAWholeIsFound() {
        Faulty store = new Faulty(claim -> claim) {
            @Override
            protected LockBackend newBackend() {
                FaultyBackend backend = (FaultyBackend) super.newBackend();
                backend.onRenewal(renewal -> renewal.map(answer -> answer.lost().isEmpty()
                        ? answer
                        : new RenewalResult(Set.of(), answer.lost(), answer.refused())));
                return backend;
            }
        };

        assertFails(store.new Repetition(), RepetitionCases::eachLockOfABatchIsRenewedForItself);
    }

    @Test
    void aStoreThatSaysItHearsThoughItsSignalsAreCutIsFound() {
        Faulty store = new Faulty(claim -> claim) {
            @Override
            protected Line line() {
                Line honest = super.line();
                LockBackend boasts = new ForwardingBackend(honest.backend()) {
                    @Override
                    public boolean isReady() {
                        return true;
                    }

                    @Override
                    public boolean hearsRecalls() {
                        return true;
                    }
                };
                return new Line(boasts, honest.cut(), honest.mend());
            }

            @Override
            Duration longestToNotice() {
                return Duration.ofSeconds(1);
            }
        };

        assertFails(store.new Retention(), RetentionCases::whatIsKeptGoesToNoFlowWhileItsStoreIsUnheard);
    }

    /** A store in memory whose answers to claims are changed. */
    private static class Faulty extends LockBackendContract {

        private final InMemoryLockBackend store = InMemoryLockBackend.create();
        private final UnaryOperator<Mono<ClaimResult>> fault;

        Faulty(UnaryOperator<Mono<ClaimResult>> fault) {
            this.fault = fault;
        }

        @Override
        protected LockBackend newBackend() {
            FaultyBackend backend = new FaultyBackend(store.connect());
            backend.onClaim(fault);
            return backend;
        }
    }
}
