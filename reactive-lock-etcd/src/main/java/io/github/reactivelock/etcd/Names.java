package io.github.reactivelock.etcd;

import io.etcd.jetcd.ByteSequence;
import io.github.reactivelock.spi.Claim;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/**
 * The names of keys in etcd: {@code PREFIX/KEY/CLAIM} for a claim, {@code PREFIX/!SESSION} for what is told to one
 * client. The user's key is percent-encoded, so that different keys have different names and none holds a slash or
 * begins with an exclamation mark.
 */
record Names(String prefix) {

    private static final String PLAIN = "-._:";

    /** The range in which all claims of a lock are, and nothing else. */
    ByteSequence lock(String key) {
        return bytes(prefix + "/" + encode(key) + "/");
    }

    ByteSequence claim(Claim claim) {
        return bytes(prefix + "/" + encode(claim.key()) + "/" + claim.id());
    }

    ByteSequence notice(String session) {
        return bytes(prefix + "/!" + session);
    }

    /** The id of the claim that a key belongs to, or nothing if the key is no claim. */
    static String claimId(ByteSequence name) {
        String text = name.toString();
        String id = text.substring(text.lastIndexOf('/') + 1);
        return id.startsWith("!") ? "" : id;
    }

    /** The name without the namespace of the user's jetcd client, which some of etcd's answers show. */
    ByteSequence withoutNamespace(ByteSequence name) {
        String text = name.toString();
        int lock = text.lastIndexOf('/', text.lastIndexOf('/') - 1);
        int start = Math.max(0, lock - prefix.length());
        return bytes(text.substring(start));
    }

    static ByteSequence bytes(String text) {
        return ByteSequence.from(text, StandardCharsets.UTF_8);
    }

    private static String encode(String key) {
        StringBuilder name = new StringBuilder(key.length() + 16);
        for (byte b : key.getBytes(StandardCharsets.UTF_8)) {
            char c = (char) (b & 0xff);
            if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || PLAIN.indexOf(c) >= 0) {
                name.append(c);
            } else {
                name.append('%').append(HexFormat.of().withUpperCase().toHexDigits(b));
            }
        }
        return name.toString();
    }
}
