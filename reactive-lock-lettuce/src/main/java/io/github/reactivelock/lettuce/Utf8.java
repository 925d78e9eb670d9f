package io.github.reactivelock.lettuce;

import io.lettuce.core.codec.StringCodec;
import io.netty.buffer.ByteBufUtil;
import java.nio.charset.StandardCharsets;

/**
 * Strings as UTF-8, with their exact size. Where Lettuce has to guess the size, it first writes every argument of a
 * command into a buffer of its own.
 */
final class Utf8 extends StringCodec {

    static final Utf8 CODEC = new Utf8();

    private Utf8() {
        super(StandardCharsets.UTF_8);
    }

    @Override
    public int estimateSize(Object text) {
        return text instanceof String string ? ByteBufUtil.utf8Bytes(string) : 0;
    }

    @Override
    public boolean isEstimateExact() {
        return true;
    }
}
