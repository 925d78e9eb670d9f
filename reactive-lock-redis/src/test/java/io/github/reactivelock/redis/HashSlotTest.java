package io.github.reactivelock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HashSlotTest {

    @Test
    void theCheckValueOfTheSpecificationComesOut() {
        assertThat(HashSlot.of("123456789")).isEqualTo(0x31C3 % 16_384);
    }

    @Test
    void onlyWhatStandsInTheFirstBracesCounts() {
        assertThat(HashSlot.of("{reactivelock:a}:queue")).isEqualTo(HashSlot.of("reactivelock:a"));
        assertThat(HashSlot.of("{}a")).isNotEqualTo(HashSlot.of("a"));
    }
}
