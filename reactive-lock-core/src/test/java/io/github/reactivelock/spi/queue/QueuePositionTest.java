package io.github.reactivelock.spi.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.state.Share;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Who holds a lock, and what the others wait for, by their places alone. */
class QueuePositionTest {

    private static final Share TWO_OF_THREE = Share.permits(2, 3);

    /** A line of claims named a, b and so on. */
    private static Line<TestEntry> line(Share... shares) {
        List<TestEntry> places = new ArrayList<>();
        for (Share share : shares) {
            places.add(new TestEntry(Character.toString('a' + places.size()), share, places.size()));
        }
        return Line.of(places);
    }

    @Test
    void allUpToTheFirstThatDoesNotFitAreInTheNewestFirst() {
        Line<TestEntry> line = line(Share.ONE, Share.ONE, Share.WHOLE, Share.ONE);

        assertThat(line.held()).extracting(TestEntry::claimId).containsExactly("a", "b");
        assertThat(line.newestHolders()).extracting(TestEntry::claimId).containsExactly("b", "a");
        assertThat(line.waiting()).extracting(TestEntry::claimId).containsExactly("c", "d");
        assertThat(line.position("b").isIn()).isTrue();
        assertThat(line.position("d").isIn()).isFalse();
    }

    @Test
    void aShareThatIsTriedIsAdmittedOnlyIfNoneWaits() {
        assertThat(line(Share.ONE).admits(Share.ONE)).isTrue();
        assertThat(line(Share.ONE).admits(Share.WHOLE)).isFalse();
        assertThat(line(Share.ONE, Share.WHOLE).admits(Share.ONE)).isFalse();
        assertThat(line().admits(Share.WHOLE)).isTrue();
    }

    @Test
    void aReaderWaitsForTheLastWriterAndAWriterForItsPredecessor() {
        Line<TestEntry> line = line(Share.ONE, Share.WHOLE, Share.WHOLE, Share.ONE, Share.ONE, Share.WHOLE);

        assertThat(line.position("e").obstacle()).extracting(TestEntry::claimId).isEqualTo("c");
        assertThat(line.position("f").obstacle()).extracting(TestEntry::claimId).isEqualTo("e");
        assertThat(line.position("c").behind()).isEqualTo("b");
        for (String beside : List.of("d", "e", "f", "b")) {
            assertThat(line.position(beside).behind()).as(beside).isNull();
        }
    }

    @Test
    void whoWaitsForUnitsHasNoOnePlaceToWatch() {
        Line<TestEntry> line = line(TWO_OF_THREE, TWO_OF_THREE, Share.ONE);

        assertThat(line.position("b").isIn()).isFalse();
        assertThat(line.position("b").obstacle()).isNull();
        assertThat(line.position("c").isIn()).isFalse();
        assertThat(line.position("c").obstacle()).isNull();
    }

    @Test
    void aClaimWithTwoPlacesStandsAtTheFirst() {
        TestEntry first = new TestEntry("b", Share.WHOLE, 12);
        TestEntry second = new TestEntry("b", Share.WHOLE, 14);
        QueuePosition<TestEntry> position = Line.of(List.of(new TestEntry("a", Share.WHOLE, 10), first, second))
                .position("b");

        assertThat(position.own()).isEqualTo(first);
        assertThat(position.surplus()).containsExactly(second);
        assertThat(position.isOf(first)).isTrue();
        assertThat(position.isOf(second)).isFalse();
    }

    @Test
    void aClaimThatIsNotThereHasNoPlace() {
        QueuePosition<TestEntry> position = line(Share.ONE).position("z");

        assertThat(line(Share.ONE).has("z")).isFalse();
        assertThat(position.own()).isNull();
        assertThat(position.isIn()).isFalse();
        assertThat(position.isOf(new TestEntry("z", Share.ONE, 1))).isFalse();
    }
}
