package io.github.reactivelock.examples.flashsale;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class WaitsTest {

    @Test
    void aPercentileIsTheWaitThatSoManyDidNotExceed() {
        Waits waits = Waits.of(IntStream.rangeClosed(1, 200).mapToObj(number -> Duration.ofMillis(201 - number)));

        assertThat(waits.millis(50)).isEqualTo(100);
        assertThat(waits.millis(99)).isEqualTo(198);
        assertThat(waits.millis(100)).isEqualTo(200);
    }

    @Test
    void oneWaitIsEveryPercentile() {
        assertThat(Waits.of(Stream.of(Duration.ofMillis(5))).millis(1)).isEqualTo(5);
    }
}
