package io.github.reactivelock.vertx;

import java.nio.charset.StandardCharsets;

/** The slot of a Redis Cluster that a key lives in: CRC-16/XMODEM of what stands in the key's first braces. */
final class HashSlot {

    private static final int SLOTS = 16_384;
    private static final int POLYNOMIAL = 0x1021;

    private HashSlot() {}

    static int of(String key) {
        int open = key.indexOf('{');
        int close = key.indexOf('}', open + 1);
        String hashed = open >= 0 && close > open + 1 ? key.substring(open + 1, close) : key;
        int crc = 0;
        for (byte b : hashed.getBytes(StandardCharsets.UTF_8)) {
            crc ^= (b & 0xff) << 8;
            for (int bit = 0; bit < 8; bit++) {
                crc = (crc & 0x8000) == 0 ? crc << 1 : crc << 1 ^ POLYNOMIAL;
            }
            crc &= 0xffff;
        }
        return crc % SLOTS;
    }
}
