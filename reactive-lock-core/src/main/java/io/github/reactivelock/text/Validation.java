package io.github.reactivelock.text;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.List;
import java.util.Objects;

/** Checks of the two texts a user gives: the key of a lock and the name of an owner. */
public final class Validation {

    private static final int LONGEST_KEY = 512;
    private static final int LONGEST_OWNER = 200;

    private Validation() {}

    /** A key is data: anything goes that is not blank, has a UTF-8 form, and fits 512 bytes of it. */
    public static String key(String key) {
        if (key == null || key.isBlank()) {
            throw new IllegalArgumentException(
                    "key of a lock must not be null or blank but is " + (key == null ? "null" : "'" + key + "'"));
        }
        int bytes = utf8Length("key of a lock", key);
        if (bytes > LONGEST_KEY) {
            throw new IllegalArgumentException("key of a lock must fit " + LONGEST_KEY + " bytes of UTF-8 but takes "
                    + bytes + ": '" + key.substring(0, key.offsetByCodePoints(0, 20)) + "…'; use a hash of it");
        }
        return key;
    }

    /** Keys in the one order in which everybody takes them, each once. */
    public static List<String> sorted(Collection<String> keys) {
        if (keys.isEmpty()) {
            throw new IllegalArgumentException("the keys of locks must be at least one but are none");
        }
        return keys.stream().map(Validation::key).distinct().sorted().toList();
    }

    public static String owner(String owner) {
        Objects.requireNonNull(owner, "owner");
        int bytes = utf8Length("owner", owner);
        if (owner.isBlank() || bytes > LONGEST_OWNER || owner.chars().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException("owner must be 1 to " + LONGEST_OWNER
                    + " bytes of UTF-8, not blank and without control characters, but is '" + owner + "'");
        }
        return owner;
    }

    private static int utf8Length(String what, String text) {
        if (isAscii(text)) {
            return text.length();
        }
        try {
            ByteBuffer bytes = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
            return bytes.remaining();
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException(
                    what + " '" + text + "' has half of a surrogate pair, which has no UTF-8 form", e);
        }
    }

    /** On the way of every acquisition, where a stream would cost more than the rest of the check. */
    private static boolean isAscii(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) >= 0x80) {
                return false;
            }
        }
        return true;
    }
}
