package io.github.reactivelock.consul;

import io.github.reactivelock.spi.Claim;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/**
 * The names of keys in Consul: {@code PREFIX/KEY/CLAIM} for a claim on a lock, {@code PREFIX/!CLIENT} for notices to
 * one client, {@code PREFIX/!CLIENT!gate} for its {@link ClaimGate}. In the user's key every byte that is not plain
 * becomes a tilde and two hexadecimal digits, so that different keys have different names, and none holds a slash,
 * begins with an exclamation mark or a dot, or needs to be escaped in an URL: Consul redirects {@code a//b} and
 * {@code a/../b}, and refuses NUL and, later on, spaces at the ends.
 */
record KeyLayout(String prefix) {

    private static final String PLAIN = "-._:";
    private static final char ESCAPE = '~';
    private static final HexFormat HEX = HexFormat.of().withUpperCase();

    /** What the names of all keys begin with. */
    String root() {
        return prefix + "/";
    }

    /** What the names of a lock's claims begin with. */
    String lock(String key) {
        return root() + encode(key) + "/";
    }

    String claim(Claim claim) {
        return lock(claim.key()) + claim.id();
    }

    String notice(String client) {
        return root() + "!" + client;
    }

    String gate(String client) {
        return notice(client) + "!gate";
    }

    /** What the names of all locks begin with whose keys begin so. */
    String locks(String keys) {
        return root() + encode(keys);
    }

    /** The user's key in the name of a lock, or empty if it is no lock's. */
    String key(String lock) {
        if (!lock.startsWith(root()) || !lock.endsWith("/") || lock.length() <= root().length()) {
            return "";
        }
        return decode(lock.substring(root().length(), lock.length() - 1));
    }

    private static String encode(String key) {
        StringBuilder name = new StringBuilder(key.length() + 16);
        for (byte b : key.getBytes(StandardCharsets.UTF_8)) {
            char c = (char) (b & 0xff);
            boolean leadingDot = c == '.' && name.isEmpty();
            if ((c >= '0' && c <= '9')
                    || (c >= 'A' && c <= 'Z')
                    || (c >= 'a' && c <= 'z')
                    || (PLAIN.indexOf(c) >= 0 && !leadingDot)) {
                name.append(c);
            } else {
                name.append(ESCAPE).append(HEX.toHexDigits(b));
            }
        }
        return name.toString();
    }

    private static String decode(String name) {
        ByteArrayOutputStream key = new ByteArrayOutputStream(name.length());
        try {
            for (int i = 0; i < name.length(); i++) {
                if (name.charAt(i) == ESCAPE) {
                    key.write(HexFormat.fromHexDigits(name, i + 1, i + 3));
                    i += 2;
                } else {
                    key.write(name.charAt(i));
                }
            }
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) { // not ours
            return "";
        }
        return key.toString(StandardCharsets.UTF_8);
    }
}
