package io.github.reactivelock.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import reactor.core.scheduler.Schedulers;

/** The order of a client's claims. */
class QuorumClaimsTest {

    private Instant now = Instant.parse("2026-11-25T12:00:00Z");
    private final QuorumClaims claims =
            new QuorumClaims(new Surroundings(Schedulers.immediate(), System::nanoTime, () -> now, (from, to) -> from));

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
}
