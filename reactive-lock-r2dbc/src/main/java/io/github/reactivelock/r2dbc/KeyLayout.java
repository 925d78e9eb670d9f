package io.github.reactivelock.r2dbc;

import io.r2dbc.spi.Row;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Keys as the tables have them: binary, so that none is equal to another by collation. */
final class KeyLayout {

    static final String TEXT = "key_text";

    /** The least of all keys; there is no empty one. */
    static final byte[] FIRST = {0};

    private KeyLayout() {}

    static byte[] bytes(String key) {
        return key.getBytes(StandardCharsets.UTF_8);
    }

    /** A key that no engine has checked, for an error. */
    static String shown(@Nullable String key) {
        return key == null || key.length() <= 80
                ? "'" + key + "'"
                : "'" + key.substring(0, 20) + "…', of " + key.length() + " characters";
    }

    /** Whether a key that no engine has checked fits the tables, with a UTF-8 form that no other key has. */
    static boolean isName(@Nullable String key) {
        return key != null && !key.isBlank() && isText(key) && bytes(key).length <= 512;
    }

    /** Not half a pair of surrogates, which would become a question mark, as that of another key. */
    static boolean isText(String key) {
        return StandardCharsets.UTF_8.newEncoder().canEncode(key);
    }

    /**
     * The key of a row, the first of its columns. PostgreSQL says it in hexadecimal digits, because its driver reads
     * bytes in one of the two forms that {@code bytea_output} may ask for.
     */
    static byte[] read(Row row) {
        return row.getMetadata().contains(TEXT)
                ? HexFormat.of().parseHex(Objects.requireNonNull(row.get(TEXT, String.class), TEXT))
                : Objects.requireNonNull(row.get(0, byte[].class), "key");
    }

    static String key(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
