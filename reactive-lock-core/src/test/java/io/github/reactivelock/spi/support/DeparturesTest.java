package io.github.reactivelock.spi.support;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.support.Departures.Rank;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class DeparturesTest {

    private final Departures departures = new Departures();
    private final List<String> left = new ArrayList<>();

    private void fill() {
        for (int i = 0; i < Departures.MOST; i++) {
            departures.add(Rank.OTHER, () -> {});
        }
    }

    @Test
    void whatConcernsHoldsPassesAllAndEndsPassLooksAndNewWork() {
        fill();
        departures.add(Rank.OTHER, () -> left.add("claim"));
        departures.add(Rank.LOOK, () -> left.add("look"));
        departures.add(Rank.END, () -> left.add("end"));
        departures.add(Rank.HOLD, () -> left.add("renewal"));
        assertThat(left).containsExactly("renewal");

        for (int i = 0; i < 3; i++) {
            departures.answered(Rank.OTHER);
        }

        assertThat(left).containsExactly("renewal", "end", "look", "claim");
        assertThat(departures.isCrowded()).isFalse();
    }

    @Test
    void whatIsWithdrawnInTheLineNeverLeaves() {
        fill();
        Runnable unwanted = () -> left.add("unwanted");
        departures.add(Rank.OTHER, unwanted);
        departures.withdraw(Rank.OTHER, unwanted);
        departures.answered(Rank.OTHER);

        assertThat(left).isEmpty();
        assertThat(departures.isCrowded()).isFalse();
    }

    @Test
    void aClaimLeavesThoughThereIsAlwaysALookBeforeIt() {
        fill();
        departures.add(Rank.OTHER, () -> left.add("claim"));
        for (int i = 0; i < Departures.TURNS; i++) {
            departures.add(Rank.LOOK, () -> left.add("look"));
        }

        for (int i = 0; i < Departures.TURNS; i++) {
            departures.answered(Rank.OTHER);
            departures.add(Rank.LOOK, () -> left.add("look"));
        }

        assertThat(left).hasSize(Departures.TURNS).containsOnlyOnce("claim");
    }

    /** Many more than may be unanswered, so that each has to give its place back. */
    @Test
    void commandsThatCannotBeginHoldUpNoOther() {
        for (int i = 0; i < 2 * Departures.MOST; i++) {
            departures.add(Rank.OTHER, () -> {
                throw new LinkageError("on purpose");
            });
        }
        departures.add(Rank.OTHER, () -> left.add("next"));

        assertThat(left).containsExactly("next");
    }

    @Test
    void whatHasLeftCountsUntilItIsAnsweredButForHolds() {
        List<String> gone = new ArrayList<>();
        for (int i = 0; i < Departures.MOST; i++) {
            departures.add(Rank.OTHER, () -> gone.add("before"));
        }
        Runnable withdrawn = () -> gone.add("withdrawn");
        departures.add(Rank.OTHER, () -> gone.add("other"));
        departures.add(Rank.OTHER, withdrawn);
        departures.add(Rank.END, () -> gone.add("end"));
        departures.add(Rank.HOLD, () -> gone.add("hold"));
        departures.withdraw(Rank.OTHER, withdrawn);

        assertThat(gone).hasSize(Departures.MOST + 1).endsWith("before", "hold");
        assertThat(departures.isCrowded()).isTrue();
        departures.answered(Rank.HOLD);
        assertThat(gone).endsWith("hold");
        departures.answered(Rank.OTHER);
        departures.answered(Rank.OTHER);
        departures.answered(Rank.OTHER);
        assertThat(gone).endsWith("hold", "end", "other");
        assertThat(departures.isCrowded()).isFalse();
    }
}
