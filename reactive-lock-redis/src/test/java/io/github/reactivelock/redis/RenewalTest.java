package io.github.reactivelock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.support.SilenceClock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.scheduler.VirtualTimeScheduler;

/** Renewals in parts, of which one is late. */
class RenewalTest {

    private static final Duration BEAT = Duration.ofMillis(50);

    private final AtomicLong clock = new AtomicLong();
    private final VirtualTimeScheduler timer = VirtualTimeScheduler.create();
    private final Sinks.One<RenewalResult> late = Sinks.one();
    private final Renewal renewals = new Renewal(
            new FakeConnection() {
                @Override
                public int slot(String key) {
                    return key.contains("late") ? 1 : 0;
                }
            },
            new KeyLayout("reactivelock", 0),
            new SilenceClock(clock::get, timer),
            claims -> claims.get(0).key().equals("late") ? late.asMono() : Mono.just(renewed("soon")));

    private static RenewalResult renewed(String id) {
        return new RenewalResult(Set.of(id), Map.of());
    }

    private static Claim claim(String key) {
        return new Claim(key, key, "me", Duration.ofMinutes(1), Claim.Mode.QUEUE);
    }

    @Test
    void anAnswerThatLiesUnreadAfterAPauseIsNoSilence() {
        CompletableFuture<RenewalResult> answer =
                renewals.renew(List.of(claim("soon"), claim("late"))).toFuture();

        clock.addAndGet(Duration.ofSeconds(20).toNanos());
        timer.advanceTimeBy(Duration.ofSeconds(20));
        assertThat(answer).isNotDone();
        late.tryEmitValue(renewed("late")).orThrow();

        assertThat(answer).isCompletedWithValueMatching(known -> known.renewed().size() == 2);
    }

    @Test
    void aPartThatIsSilentHoldsTheOthersUpForASecondAtMost() {
        CompletableFuture<RenewalResult> answer =
                renewals.renew(List.of(claim("soon"), claim("late"))).toFuture();

        for (int i = 0; i < 30; i++) {
            clock.addAndGet(BEAT.toNanos());
            timer.advanceTimeBy(BEAT);
        }

        assertThat(answer).isCompletedWithValue(renewed("soon"));
    }

    @Test
    void aPartThatIsRefusedIsSaidOfItsClaims() {
        late.tryEmitError(new IllegalStateException("refused")).orThrow();

        RenewalResult answer =
                renewals.renew(List.of(claim("soon"), claim("late"))).block();

        assertThat(answer.renewed()).containsExactly("soon");
        assertThat(answer.refused()).containsOnlyKeys("late");
    }
}
