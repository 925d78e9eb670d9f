package io.github.reactivelock.redis;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** The slot of a Redis Cluster that a key lives in: CRC-16/XMODEM of what stands in the key's first braces. */
public final class HashSlot {

    private static final int SLOTS = 16_384;
    private static final int POLYNOMIAL = 0x1021;

    private HashSlot() {}

    /** What stands in the first braces of a key and is hashed in its place, or null. */
    static @Nullable String tag(String key) {
        int open = key.indexOf('{');
        int close = key.indexOf('}', open + 1);
        return open >= 0 && close > open + 1 ? key.substring(open + 1, close) : null;
    }

    /**
     * The slot of a key.
     *
     * @param key any key
     * @return 0 to 16,383
     */
    public static int of(String key) {
        String tag = tag(key);
        int crc = 0;
        for (byte b : (tag == null ? key : tag).getBytes(StandardCharsets.UTF_8)) {
            crc ^= (b & 0xff) << 8;
            for (int bit = 0; bit < 8; bit++) {
                crc = (crc & 0x8000) == 0 ? crc << 1 : crc << 1 ^ POLYNOMIAL;
            }
            crc &= 0xffff;
        }
        return crc % SLOTS;
    }
}
