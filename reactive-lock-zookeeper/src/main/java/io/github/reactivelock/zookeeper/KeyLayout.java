package io.github.reactivelock.zookeeper;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.support.KeyNames;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * The paths of nodes in ZooKeeper: {@code /PREFIX/KEY} for a lock, {@code /PREFIX/KEY/CLAIM:NUMBER} for a claim on it
 * ({@link SequenceNode}), {@code /PREFIX/!SESSION} for notices to one client. The user's key is encoded as
 * {@link KeyNames} says, and is none of the names that mean a directory.
 */
record KeyLayout(String prefix) {

    String root() {
        return "/" + prefix;
    }

    String lock(String key) {
        return root() + "/" + encode(key);
    }

    /** The user's key that a lock's node is named by, or empty if the node is no lock's. */
    static String key(String node) {
        String key = KeyNames.decode(node);
        return encode(key).equals(node) ? key : "";
    }

    /** The path of a client's claim without the number, which the server appends. */
    String claim(Claim claim, String client) {
        return lock(claim.key()) + "/" + SequenceNode.prefix(claim, client);
    }

    /** The path with the number that the server is expected to append. */
    String claim(Claim claim, String client, int number) {
        return claim(claim, client) + String.format(Locale.ROOT, "%010d", number);
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

    static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /** No name begins with a dot, because two of those mean a directory. */
    private static String encode(String key) {
        String name = KeyNames.encode(key);
        return name.startsWith(".") ? "%2E" + name.substring(1) : name;
    }
}
