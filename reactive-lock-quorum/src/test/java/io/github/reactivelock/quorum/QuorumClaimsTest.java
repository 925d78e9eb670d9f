package io.github.reactivelock.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import reactor.test.scheduler.VirtualTimeScheduler;

/** The order of a client's claims. */
class QuorumClaimsTest {

    private Instant now = Instant.parse("2026-11-25T12:00:00Z");
    private final VirtualTimeScheduler timer = VirtualTimeScheduler.create();
    private final QuorumClaims claims = new QuorumClaims(
            new Surroundings(timer, () -> timer.now(TimeUnit.NANOSECONDS), () -> now, (from, to) -> from));

    private long ticket(String id) {
        return claims.asking(new Claim("k", id, "a test", Duration.ofSeconds(10), Claim.Mode.QUEUE))
                .ticket();
    }

    @Test
    void ofTwoInOneMicrosecondTheFirstIsTheOlder() {
        assertThat(ticket("one")).isLessThan(ticket("two"));
        assertThat(ticket("one")).as("asked again").isEqualTo(ticket("two") - 1);
    }

    /** A place below the first one says something else at a node that keeps places and ends of leases in one line. */
    @Test
    void aClockThatWasNeverSetGivesPlacesInOrderAllTheSame() {
        now = Instant.EPOCH;

        assertThat(ticket("one")).isEqualTo(1);
        assertThat(ticket("two")).isEqualTo(2);
    }

    @Test
    void aClockThatWasSetBackIsBelieved() {
        long before = ticket("one");

        now = now.minusSeconds(3600);

        assertThat(ticket("two")).isEqualTo(before - Duration.ofHours(1).toNanos() / 1000);
    }

    @Test
    void whatANodePushesUnderItsOwnIdIsHeardOfTheClaim() {
        Claim claim = new Claim("k", "one", "a test", Duration.ofSeconds(10), Claim.Mode.QUEUE);
        NodeIds ids = claims.asking(claim).ids();
        ids.giveBack(List.of(2));
        ids.isBack(2, "one");
        String id = claims.at(2, claim).id();

        assertThat(claims.pushed(2, new Signal.Grant("one", 5), 1).blockOptional())
                .as("a vote that is not wanted any more")
                .isEmpty();
        assertThat(id).isNotEqualTo("one");
        assertThat(claims.pushed(2, new Signal.Grant(id, 5), 1).block()).isEqualTo(new Signal.RecheckClaim("one"));
        assertThat(claims.pushed(2, new Signal.RecheckClaim(id), 1).block()).isEqualTo(new Signal.RecheckClaim("one"));
        assertThat(claims.pushed(2, new Signal.Suspect(id, LossReason.FORCED), 1)
                        .block())
                .isEqualTo(new Signal.Suspect("one", LossReason.FORCED));
    }

    @Test
    void aClaimThatWasWithdrawnIsNotServed() {
        Claim claim = new Claim("k", "one", "a test", Duration.ofSeconds(10), Claim.Mode.QUEUE);
        claims.asking(claim).ids().giveBack(List.of(2));
        assertThat(claims.withdraw(claim, 3)).containsExactly(claim, claim, claim);

        assertThat(claims.pushed(2, new Signal.Grant("one", 5), 1).blockOptional())
                .isEmpty();
    }

    /** Its release may be said again, by the ids under which nodes know it. */
    @Test
    void withdrawnClaimsAreRememberedForTheirLeaseByOneTimer() {
        for (int i = 0; i < 1_000; i++) {
            withdrawn("claim-" + i);
        }

        assertThat(timer.getScheduledTaskCount()).isEqualTo(1);
        timer.advanceTimeBy(Duration.ofSeconds(9));
        assertThat(claims.size()).isEqualTo(1_000);
        withdrawn("later");
        timer.advanceTimeBy(Duration.ofSeconds(2));
        assertThat(claims.size()).isEqualTo(1);
        timer.advanceTimeBy(Duration.ofSeconds(9));
        assertThat(claims.size()).isZero();
        withdrawn("after all");
        timer.advanceTimeBy(Duration.ofSeconds(11));
        assertThat(claims.size()).isZero();
    }

    @Test
    void noMoreThanSomeThousandWithdrawnClaimsAreRemembered() {
        for (int i = 0; i < 20_000; i++) {
            withdrawn("claim-" + i);
        }

        assertThat(claims.size()).isBetween(1_000, 5_000);
        assertThat(timer.getScheduledTaskCount()).isEqualTo(1);
    }

    @Test
    void aClaimThatIsReleasedOverAndOverAgainIsRememberedOnce() {
        for (int i = 0; i < 20_000; i++) {
            withdrawn("one");
        }
        withdrawn("two");

        assertThat(claims.size()).isEqualTo(2);
    }

    private void withdrawn(String id) {
        Claim claim = new Claim("k", id, "a test", Duration.ofSeconds(10), Claim.Mode.QUEUE);
        NodeIds ids = claims.asking(claim).ids();
        ids.giveBack(List.of(2));
        ids.isBack(2, id);
        List<Claim> unused = claims.withdraw(claim, 3);
    }
}
