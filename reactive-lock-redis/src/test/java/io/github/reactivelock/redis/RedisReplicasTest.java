package io.github.reactivelock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.support.SilenceClock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.StepVerifier;
import reactor.test.scheduler.VirtualTimeScheduler;

class RedisReplicasTest {

    @Test
    void aQuestionThatThrowsAnErrorFailsAndTheNextOneIsAsked() {
        AtomicInteger asked = new AtomicInteger();
        RedisReplicas replicas = new RedisReplicas(
                claims -> {
                    if (asked.getAndIncrement() == 0) {
                        throw new NoClassDefFoundError("gone");
                    }
                    return Mono.just(new RenewalResult(Set.of(claims.get(0).id()), Map.of()));
                },
                () -> "fake:1",
                Duration.ofSeconds(1),
                SilenceClock.ofThisProcess());
        List<Claim> claims = List.of(new Claim("k", "id.0", "owner", Duration.ofSeconds(1), Claim.Mode.QUEUE));

        StepVerifier.create(replicas.renew(claims)).verifyError(NoClassDefFoundError.class);
        assertThat(replicas.renew(claims).block(Duration.ofSeconds(60)).renewed())
                .containsExactly("id.0");
    }

    @Test
    void anAnswerThatLiesUnreadAfterAPauseIsNoSilenceOfReplicas() {
        AtomicLong clock = new AtomicLong();
        VirtualTimeScheduler timer = VirtualTimeScheduler.create();
        Sinks.One<RenewalResult> answer = Sinks.one();
        RedisReplicas replicas = new RedisReplicas(
                claims -> answer.asMono(), () -> "fake:1", Duration.ofSeconds(1), new SilenceClock(clock::get, timer));
        Claim claim = new Claim("k", "id.0", "owner", Duration.ofSeconds(1), Claim.Mode.QUEUE);

        CompletableFuture<RenewalResult> renewal =
                replicas.renew(List.of(claim)).toFuture();
        clock.addAndGet(Duration.ofSeconds(20).toNanos());
        timer.advanceTimeBy(Duration.ofSeconds(20));
        assertThat(renewal).as("right after a pause").isNotDone();

        Duration beat = Duration.ofMillis(50);
        for (int beats = 0; beats < 80; beats++) {
            clock.addAndGet(beat.toNanos());
            timer.advanceTimeBy(beat);
        }
        assertThat(renewal).as("after its limit").isCompletedExceptionally();
    }

    @Test
    void aPushedGrantHasItsOwnClaimAskAndNoOther() {
        RedisReplicas replicas = new RedisReplicas(
                claims -> Mono.never(), () -> "fake:1", Duration.ofSeconds(1), SilenceClock.ofThisProcess());
        Claim claim = new Claim("k", "id.0", "owner", Duration.ofSeconds(1), Claim.Mode.QUEUE);
        Mono<ClaimResult> queued = Mono.just(new ClaimResult.Queued(Duration.ofSeconds(1)));
        StepVerifier.create(replicas.asked(claim, queued)).expectNextCount(1).verifyComplete();

        StepVerifier.create(replicas.unconfirmed(new Signal.Grant("id.0", 4096)))
                .expectNext(new Signal.RecheckClaim("id.0"))
                .verifyComplete();
        StepVerifier.create(replicas.unconfirmed(new Signal.Grant("id.1", 4096)))
                .as("of a claim that nobody waits for")
                .verifyComplete();
    }

    @Test
    void aQueuedTryAsksWhenItsGrantIsPushedAndARefusedOneNot() {
        RedisReplicas replicas = new RedisReplicas(
                claims -> Mono.never(), () -> "fake:1", Duration.ofSeconds(1), SilenceClock.ofThisProcess());
        Claim queued = new Claim("k", "id.0", "owner", Duration.ofSeconds(1), Claim.Mode.TRY);
        Claim busy = new Claim("k", "id.1", "owner", Duration.ofSeconds(1), Claim.Mode.TRY);
        Mono<ClaimResult> behind = Mono.just(new ClaimResult.Queued(Duration.ofSeconds(1)));
        StepVerifier.create(replicas.asked(queued, behind)).expectNextCount(1).verifyComplete();
        StepVerifier.create(replicas.asked(busy, Mono.just(new ClaimResult.Busy())))
                .expectNextCount(1)
                .verifyComplete();

        StepVerifier.create(replicas.unconfirmed(new Signal.Grant("id.0", 4096)))
                .expectNext(new Signal.RecheckClaim("id.0"))
                .verifyComplete();
        StepVerifier.create(replicas.unconfirmed(new Signal.Grant("id.1", 4096)))
                .verifyComplete();
    }
}
