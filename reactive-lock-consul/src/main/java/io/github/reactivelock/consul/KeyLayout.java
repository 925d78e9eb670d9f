package io.github.reactivelock.consul;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.support.KeyNames;

/**
 * The names of keys in Consul: {@code PREFIX/KEY/CLAIM} for a claim on a lock, {@code PREFIX/!CLIENT} for notices to
 * one client, {@code PREFIX/!CLIENT!gate} for its {@link ClaimGate}. The user's key is encoded as {@link KeyNames}
 * says, but with tildes for percent signs and without a dot at the beginning, so that no name needs to be escaped in a
 * URL: Consul redirects {@code a//b} and {@code a/../b}, and refuses NUL and, later on, spaces at the ends.
 */
record KeyLayout(String prefix) {

    private static final char ESCAPE = '~';

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
        String name = lock.substring(root().length(), lock.length() - 1);
        String key = KeyNames.decode(name.replace(ESCAPE, '%'));
        return encode(key).equals(name) ? key : "";
    }

    private static String encode(String key) {
        String name = KeyNames.encode(key).replace('%', ESCAPE);
        return name.startsWith(".") ? ESCAPE + "2E" + name.substring(1) : name;
    }
}
