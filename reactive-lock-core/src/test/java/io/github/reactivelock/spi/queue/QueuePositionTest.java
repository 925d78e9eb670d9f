package io.github.reactivelock.spi.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.state.Share;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Who holds a lock, and what the others wait for, by their places alone. */
class QueuePositionTest {

    private static final Share TWO_OF_THREE = Share.permits(2, 3);

    /** A queue of claims named a, b and so on. */
    private static PlaceQueue<TestEntry> queue(Share... shares) {
        List<TestEntry> places = new ArrayList<>();
        for (Share share : shares) {
            places.add(new TestEntry(Character.toString('a' + places.size()), share, places.size()));
        }
        return PlaceQueue.of(places);
    }

    @Test
    void allUpToTheFirstThatDoesNotFitAreInTheNewestFirst() {
        PlaceQueue<TestEntry> queue = queue(Share.ONE, Share.ONE, Share.WHOLE, Share.ONE);

        assertThat(queue.held()).extracting(TestEntry::claimId).containsExactly("a", "b");
        assertThat(queue.newestHolders()).extracting(TestEntry::claimId).containsExactly("b", "a");
        assertThat(queue.waiting()).extracting(TestEntry::claimId).containsExactly("c", "d");
        assertThat(queue.position("b").isIn()).isTrue();
        assertThat(queue.position("d").isIn()).isFalse();
    }

    @Test
    void aShareThatIsTriedIsAdmittedOnlyIfNoneWaits() {
        assertThat(queue(Share.ONE).admits(Share.ONE)).isTrue();
        assertThat(queue(Share.ONE).admits(Share.WHOLE)).isFalse();
        assertThat(queue(Share.ONE, Share.WHOLE).admits(Share.ONE)).isFalse();
        assertThat(queue().admits(Share.WHOLE)).isTrue();
    }

    @Test
    void aReaderWaitsForTheLastWriterAndAWriterForItsPredecessor() {
        PlaceQueue<TestEntry> queue = queue(Share.ONE, Share.WHOLE, Share.WHOLE, Share.ONE, Share.ONE, Share.WHOLE);

        assertThat(queue.position("e").obstacle())
                .extracting(TestEntry::claimId)
                .isEqualTo("c");
        assertThat(queue.position("f").obstacle())
                .extracting(TestEntry::claimId)
                .isEqualTo("e");
        assertThat(queue.position("c").behind()).isEqualTo("b");
        for (String beside : List.of("d", "e", "f", "b")) {
            assertThat(queue.position(beside).behind()).as(beside).isNull();
        }
    }

    @Test
    void whoWaitsForUnitsHasNoOnePlaceToWatch() {
        PlaceQueue<TestEntry> queue = queue(TWO_OF_THREE, TWO_OF_THREE, Share.ONE);

        assertThat(queue.position("b").isIn()).isFalse();
        assertThat(queue.position("b").obstacle()).isNull();
        assertThat(queue.position("c").isIn()).isFalse();
        assertThat(queue.position("c").obstacle()).isNull();
    }

    @Test
    void aClaimWithTwoPlacesStandsAtTheFirst() {
        TestEntry first = new TestEntry("b", Share.WHOLE, 12);
        TestEntry second = new TestEntry("b", Share.WHOLE, 14);
        QueuePosition<TestEntry> position = PlaceQueue.of(List.of(new TestEntry("a", Share.WHOLE, 10), first, second))
                .position("b");

        assertThat(position.own()).isEqualTo(first);
        assertThat(position.surplus()).containsExactly(second);
        assertThat(position.isOf(first)).isTrue();
        assertThat(position.isOf(second)).isFalse();
    }

    @Test
    void aClaimThatIsNotThereHasNoPlace() {
        QueuePosition<TestEntry> position = queue(Share.ONE).position("z");

        assertThat(queue(Share.ONE).has("z")).isFalse();
        assertThat(position.own()).isNull();
        assertThat(position.isIn()).isFalse();
        assertThat(position.isOf(new TestEntry("z", Share.ONE, 1))).isFalse();
    }
}
