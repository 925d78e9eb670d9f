package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.FencingTokens;
import io.github.reactivelock.spi.Signal;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NoticeTest {

    private static @Nullable Signal read(String text) {
        return SignalSink.read(new PgNotifications.Notice("ours", text), "ours");
    }

    @Test
    void aGrantIsRead() {
        assertThat(read("grant AAAA 7")).isEqualTo(new Signal.Grant("AAAA", FencingTokens.of(7)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"grant AAAA 0", "grant AAAA 2251799813685248", "grant AAAA 9007199254740993", "grant AAAA -7"})
    void aGrantWhoseNumberIsNoTokensIsNone(String text) {
        assertThat(read(text)).isNull();
    }
}
