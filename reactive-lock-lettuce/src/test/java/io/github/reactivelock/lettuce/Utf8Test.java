package io.github.reactivelock.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class Utf8Test {

    /** Lettuce announces the size before it writes the text: one byte more or less and the server reads nonsense. */
    @ParameterizedTest
    @ValueSource(strings = {"", "a", "{reactivelock:a}", "é", "日本", "😀", "a😀b", "\ud83d", "\ude00a", "\0", "\r\n"})
    void theSizeAnnouncedIsTheSizeWritten(String text) {
        ByteBuf written = Unpooled.buffer();

        Utf8.CODEC.encodeValue(text, written);

        assertThat(Utf8.CODEC.isEstimateExact()).isTrue();
        assertThat(Utf8.CODEC.estimateSize(text)).isEqualTo(written.readableBytes());
        assertThat(written.toString(StandardCharsets.UTF_8))
                .isEqualTo(new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8));
    }
}
