package io.github.reactivelock.zookeeper;

import io.github.reactivelock.spi.Claim;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Locale;

/**
 * The paths of nodes in ZooKeeper: {@code /PREFIX/KEY} for a lock, {@code /PREFIX/KEY/CLAIM:NUMBER} for a claim on it
 * ({@link SequenceNode}), {@code /PREFIX/!SESSION} for notices to one client. The user's key is percent-encoded, so
 * that different keys have different names, and none holds a slash, begins with an exclamation mark or is one of the
 * names that mean a directory.
 */
record KeyLayout(String prefix) {

    private static final String PLAIN = "-._:";

    String root() {
        return "/" + prefix;
    }

    String lock(String key) {
        return root() + "/" + encode(key);
    }

    /** The user's key that a lock's node is named by, or empty if the node is no lock's. */
    static String key(String node) {
        try {
            return node.startsWith("!") ? "" : URLDecoder.decode(node, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) { // not ours
            return "";
        }
    }

    /** The path without the number, which the server appends. */
    String claim(Claim claim) {
        return lock(claim.key()) + "/" + SequenceNode.prefix(claim.id(), claim.share());
    }

    /** The path with the number that the server is expected to append. */
    String claim(Claim claim, int number) {
        return claim(claim) + String.format(Locale.ROOT, "%010d", number);
    }

    String claim(String key, String node) {
        return lock(key) + "/" + node;
    }

    String notice(String session) {
        return root() + "/!" + session;
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
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
                name.append('%').append(HexFormat.of().withUpperCase().toHexDigits(b));
            }
        }
        return name.toString();
    }
}
