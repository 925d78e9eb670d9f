package io.github.reactivelock.quorum;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.github.reactivelock.spi.ClaimResult;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.NullMarked;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

/** {@link QuorumClaim}: votes are given back or relied upon, and rounds follow one another. */
@NullMarked
final class QuorumClaimRaces {

    private static final Surroundings STILL =
            new Surroundings(Schedulers.immediate(), () -> 0, () -> Instant.EPOCH, (from, to) -> from);

    private QuorumClaimRaces() {}

    /** Whether votes might be given back, whether the claim waits in the end. */
    @JCStressTest
    @Outcome(id = "true, false", expect = ACCEPTABLE, desc = "given back before it won, and what it won is relied upon")
    @Outcome(id = "false, false", expect = ACCEPTABLE, desc = "it won, so its votes are kept")
    @State
    public static class GiveBackAgainstWin {

        private final QuorumClaim claim = new QuorumClaim(STILL, 0);

        @Actor
        public void giveBack(ZZ_Result seen) {
            seen.r1 = claim.mayGiveBack();
        }

        @Actor
        public void win() {
            claim.win(1, Duration.ofSeconds(30), 0);
        }

        @Arbiter
        public void judge(ZZ_Result seen) {
            seen.r2 = claim.isWaiting();
        }
    }

    /** Which round answered the second question, or 0, and how often a round began while another was under way. */
    @JCStressTest
    @Outcome(id = "2, 0", expect = ACCEPTABLE, desc = "by the round that began when the first one had ended")
    @State
    public static class QuestionAgainstEndOfRound {

        private final QuorumClaim claim = new QuorumClaim(STILL, 0);
        private final Sinks.One<ClaimResult> first = Sinks.one();
        private final AtomicInteger begun = new AtomicInteger();
        private final AtomicInteger underWay = new AtomicInteger();
        private final AtomicInteger overlaps = new AtomicInteger();
        private volatile long answeredBy;
        private final Mono<ClaimResult> round = Mono.defer(this::begin);

        public QuestionAgainstEndOfRound() {
            Disposable unused = claim.inTurn(round).subscribe();
        }

        private Mono<ClaimResult> begin() {
            int number = begun.incrementAndGet();
            if (underWay.getAndIncrement() > 0) {
                overlaps.incrementAndGet();
            }
            Mono<ClaimResult> answer = number == 1 ? first.asMono() : Mono.just(queued(number));
            return answer.doOnTerminate(underWay::decrementAndGet);
        }

        private static ClaimResult queued(int number) {
            return new ClaimResult.Queued(Duration.ofMillis(number), null, 0);
        }

        @Actor
        public void end() {
            Sinks.EmitResult unused = first.tryEmitValue(queued(1));
        }

        @Actor
        public void question() {
            Disposable unused = claim.inTurn(round)
                    .subscribe(answer -> answeredBy =
                            ((ClaimResult.Queued) answer).recheckAfter().toMillis());
        }

        @Arbiter
        public void judge(II_Result seen) {
            seen.r1 = (int) answeredBy;
            seen.r2 = overlaps.get();
        }
    }
}
