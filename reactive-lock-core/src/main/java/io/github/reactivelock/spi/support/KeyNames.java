package io.github.reactivelock.spi.support;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/**
 * Users' keys as names in a store that has paths: percent-encoded, so that different keys have different names, and
 * none holds a slash or begins with an exclamation mark, which stores put before names of their own.
 */
public final class KeyNames {

    private static final String PLAIN = "-._:";

    private KeyNames() {}

    /**
     * A key's name.
     *
     * @param key any text
     * @return the bytes of the key in UTF-8, each as itself if it is a letter, a digit or one of {@code -._:}, and
     *     otherwise as a percent sign and two digits
     */
    public static String encode(String key) {
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

    /**
     * The key of a name.
     *
     * @param name of something in the store
     * @return empty if the name is not one that {@link #encode} makes
     */
    public static String decode(String name) {
        try {
            return URLDecoder.decode(name, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) { // somebody else's
            return "";
        }
    }
}
