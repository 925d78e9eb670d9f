package io.github.reactivelock.spi.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.state.Share;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

class LockQueueTest {

    private static final Share TWO_OF_FOUR = Share.permits(2, 4);

    @Test
    void noClaimOvertakesOneThatDoesNotFit() {
        LockQueue<Share> queue = queue(Share.ONE, Share.ONE, Share.WHOLE, Share.ONE);

        assertThat(queue.holders()).containsExactly(Share.ONE, Share.ONE);
        assertThat(queue.waiting()).containsExactly(Share.WHOLE, Share.ONE);
        assertThat(queue.admits(Share.ONE)).isFalse();
    }

    @Test
    void unitsAreCountedAndNotClaims() {
        LockQueue<Share> queue = queue(TWO_OF_FOUR, TWO_OF_FOUR, TWO_OF_FOUR);

        assertThat(queue.in()).isEqualTo(2);
        assertThat(queue.units()).isEqualTo(4);
        assertThat(queue(TWO_OF_FOUR).admits(Share.permits(2, 4))).isTrue();
        assertThat(queue(TWO_OF_FOUR).admits(Share.permits(3, 4))).isFalse();
    }

    @Test
    void theUnitsOfManyHoldersDoNotOverflow() {
        assertThat(Share.ONE.fitsBeside(Integer.MAX_VALUE)).isFalse();
        assertThat(Share.WHOLE.fitsBeside(0)).isTrue();
        assertThat(Share.WHOLE.fitsBeside(2L * Integer.MAX_VALUE)).isFalse();
    }

    private static LockQueue<Share> queue(Share... claims) {
        return LockQueue.of(List.of(claims), Function.identity());
    }
}
