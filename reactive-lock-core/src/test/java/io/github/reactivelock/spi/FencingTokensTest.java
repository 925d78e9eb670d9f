package io.github.reactivelock.spi;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FencingTokensTest {

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 4095, 4096, FencingTokens.HIGHEST_NUMBER})
    void aTokenHasTheStoresNumberAndItsPassesChangeNeither(long number) {
        long token = FencingTokens.of(number);
        long passed = token + FencingTokens.MOST_PASSES;

        assertThat(token).isNotNegative();
        assertThat(FencingTokens.number(token)).isEqualTo(number);
        assertThat(FencingTokens.number(passed)).isEqualTo(number);
        assertThat(FencingTokens.granted(passed)).isEqualTo(token);
        assertThat(FencingTokens.isPassed(token)).isFalse();
        assertThat(FencingTokens.isPassed(passed)).isTrue();
    }
}
