package io.github.reactivelock.redis;

import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The names of keys and channels. All keys of a lock are {@code {prefix:KEY}} and what hangs off it by a colon, so that
 * they share a cluster's slot; KEY is the user's key with braces, percent signs and control characters escaped, so that
 * no two keys meet and none breaks out of the braces. A prefix with a colon stands before the braces, {@code
 * prefix:{KEY}}, for servers that give each application the keys that begin with its name. No two prefixes meet: names
 * of the first form begin with a brace, and of the second form all before the brace is the prefix.
 */
final class KeyLayout {

    private record Lock(String key, List<String> names) {}

    private static final HexFormat HEX = HexFormat.of().withUpperCase();

    private final String opening;
    private final String space;
    /** The lock that was asked for last, because the caller that took it gives it up. */
    private volatile @Nullable Lock last;

    KeyLayout(String prefix, int database) {
        this(prefix, prefix + ":" + database);
    }

    private KeyLayout(String prefix, String space) {
        this.opening = opening(prefix);
        this.space = space;
    }

    /** With channels in the slots of their locks; the script knows them by this mark, which no prefix has. */
    static KeyLayout ofShards(String prefix) {
        return new KeyLayout(prefix, prefix + ":!shard");
    }

    /** What all keys of locks begin with. */
    static String opening(String prefix) {
        return isOutside(prefix) ? prefix + "{" : "{" + prefix + ":";
    }

    /** What the key of a guard's token begins with, before the braces. */
    static String fences(String prefix) {
        return isOutside(prefix) ? prefix + "!fence:" : "";
    }

    /** What all keys of a prefix begin with, as a permission of a Redis user has it. */
    static String permitted(String prefix) {
        return isOutside(prefix) ? prefix : "{" + prefix + ":";
    }

    /** What all channels of a prefix begin with, as a permission of a Redis user has it. */
    static String permittedChannels(String prefix) {
        return isOutside(prefix) ? prefix : prefix + ":";
    }

    private static boolean isOutside(String prefix) {
        return prefix.indexOf(':') >= 0;
    }

    String owner(String key) {
        return opening + escape(key) + "}";
    }

    /** What the names of the owners fit, of all keys that begin so, as {@code SCAN} has it. */
    String ownersOf(String keyPrefix) {
        return glob(opening + escape(keyPrefix)) + "*}";
    }

    private static String glob(String text) {
        return text.replaceAll("([\\\\*?\\[\\]])", "\\\\$1");
    }

    /** All keys of a lock, in the order in which the script expects them. */
    List<String> all(String key) {
        Lock known = last;
        if (known == null || !known.key.equals(key)) {
            String owner = owner(key);
            known = new Lock(key, List.of(owner, owner + ":token", owner + ":queue", owner + ":waiters"));
            last = known;
        }
        return known.names;
    }

    /** What the renewal of a share needs: owner, queue, waiters. */
    List<String> ofShares(String key) {
        List<String> all = all(key);
        return List.of(all.get(0), all.get(2), all.get(3));
    }

    String grants(String client) {
        return space + ":grants:" + client;
    }

    /** A channel in the lock's slot. */
    String grants(String key, String client) {
        return grants(client) + ":" + owner(key);
    }

    /** A channel without listeners. */
    String check() {
        return space + ":check";
    }

    String events(String key) {
        return space + ":events:" + owner(key);
    }

    /** The user's key that {@link #owner} made this name of, or null if it made no such name. */
    @Nullable
    String key(String owner) {
        if (!owner.startsWith(opening) || !owner.endsWith("}")) {
            return null;
        }
        String escaped = owner.substring(opening.length(), owner.length() - 1);
        StringBuilder key = new StringBuilder();
        for (int i = 0; i < escaped.length(); i++) {
            char c = escaped.charAt(i);
            if (c != '%') {
                key.append(c);
            } else if (i + 2 < escaped.length() && isHex(escaped.charAt(i + 1)) && isHex(escaped.charAt(i + 2))) {
                key.append((char) HexFormat.fromHexDigits(escaped, i + 1, i + 3));
                i += 2;
            } else {
                return null;
            }
        }
        String found = key.toString();
        return escape(found).equals(escaped) ? found : null;
    }

    private static boolean isHex(char c) {
        return HexFormat.isHexDigit(c);
    }

    static String escape(String key) {
        int plain = 0;
        while (plain < key.length() && !isSpecial(key.charAt(plain))) {
            plain++;
        }
        if (plain == key.length()) {
            return key;
        }
        StringBuilder escaped = new StringBuilder(key.length() + 8).append(key, 0, plain);
        for (int i = plain; i < key.length(); i++) {
            char c = key.charAt(i);
            if (isSpecial(c)) {
                escaped.append('%').append(HEX.toHexDigits((byte) c));
            } else {
                escaped.append(c);
            }
        }
        return escaped.toString();
    }

    private static boolean isSpecial(char c) {
        return c == '{' || c == '}' || c == '%' || Character.isISOControl(c);
    }
}
