package io.github.reactivelock.spi.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.state.Share;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

class QueueLineTest {

    private static final Share TWO_OF_FOUR = Share.permits(2, 4);

    @Test
    void noClaimOvertakesOneThatDoesNotFit() {
        QueueLine<Share> line = line(Share.ONE, Share.ONE, Share.WHOLE, Share.ONE);

        assertThat(line.holders()).containsExactly(Share.ONE, Share.ONE);
        assertThat(line.waiting()).containsExactly(Share.WHOLE, Share.ONE);
        assertThat(line.admits(Share.ONE)).isFalse();
    }

    @Test
    void unitsAreCountedAndNotClaims() {
        QueueLine<Share> line = line(TWO_OF_FOUR, TWO_OF_FOUR, TWO_OF_FOUR);

        assertThat(line.in()).isEqualTo(2);
        assertThat(line.units()).isEqualTo(4);
        assertThat(line(TWO_OF_FOUR).admits(Share.permits(2, 4))).isTrue();
        assertThat(line(TWO_OF_FOUR).admits(Share.permits(3, 4))).isFalse();
    }

    @Test
    void theUnitsOfManyHoldersDoNotOverflow() {
        assertThat(Share.ONE.fitsBeside(Integer.MAX_VALUE)).isFalse();
        assertThat(Share.WHOLE.fitsBeside(0)).isTrue();
        assertThat(Share.WHOLE.fitsBeside(2L * Integer.MAX_VALUE)).isFalse();
    }

    private static QueueLine<Share> line(Share... claims) {
        return QueueLine.of(List.of(claims), Function.identity());
    }
}
