package io.github.reactivelock.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VoteCountTest {

    private final Claim held = new Claim("key", "held", "me", Duration.ofSeconds(9), Claim.Mode.QUEUE);

    private void lost(VoteCount count, LossReason reason) {
        count.add(new RenewalResult(Set.of(), Map.of(held.id(), reason)));
    }

    @ParameterizedTest
    @CsvSource({
        "EXPIRED,TAKEN_OVER,EXPIRED",
        "TAKEN_OVER,EXPIRED,EXPIRED",
        "TAKEN_OVER,TAKEN_OVER,EXPIRED",
        "EXPIRED,EXPIRED,EXPIRED",
        "TAKEN_OVER,FORCED,FORCED",
        "FORCED,TAKEN_OVER,FORCED",
    })
    void votesOfOthersShowNoOwner(LossReason one, LossReason other, LossReason told) {
        VoteCount count = new VoteCount(List.of(held), 3);
        lost(count, one);
        lost(count, other);

        assertThat(count.result().lost()).containsExactly(Map.entry(held.id(), told));
        assertThat(count.isDecided()).isTrue();
    }

    @Test
    void oneNodeLosesNothing() {
        VoteCount count = new VoteCount(List.of(held), 3);
        lost(count, LossReason.TAKEN_OVER);

        assertThat(count.isDecided()).isFalse();
        assertThat(count.result().lost()).isEmpty();
    }
}
