package io.github.reactivelock.spring.boot;

import java.util.Optional;
import java.util.regex.Pattern;

/** Reads the header's value: an Item of RFC 9651 that is a String. Its parameters mean nothing. */
final class IdempotencyKey {

    /** Characters beside those of the key. */
    private static final int MOST_BESIDE = 256;

    private static final String BARE_ITEM =
            "(?:\"(?:[ !#-\\[\\]-~]|\\\\[\"\\\\])*+\"|[A-Za-z*][!#-'*+.^-z|~0-9A-Z:/-]*+"
                    + "|:[A-Za-z0-9+/=]*+:|\\?[01]|@-?\\d{1,15}|-?\\d{1,12}\\.\\d{1,3}|-?\\d{1,15})";
    private static final Pattern PARAMETERS = Pattern.compile("(?:; *+[a-z*][a-z0-9_.*-]*+(?:=" + BARE_ITEM + ")?)*+");
    private static final Pattern SPACES_AROUND = Pattern.compile("^ +| +$");

    private IdempotencyKey() {}

    /**
     * The key.
     *
     * @param value of the header
     * @param longest characters of a key
     * @return empty if the value is anything else, or the key is empty or too long
     */
    static Optional<String> read(String value, int longest) {
        if (value.length() > 2 * longest + MOST_BESIDE) {
            return Optional.empty();
        }
        String item = SPACES_AROUND.matcher(value).replaceAll("");
        StringBuilder key = new StringBuilder();
        int end = 1;
        while (end < item.length() && item.charAt(end) != '"') {
            char c = item.charAt(end++);
            if (c == '\\') {
                if (end == item.length() || (item.charAt(end) != '"' && item.charAt(end) != '\\')) {
                    return Optional.empty();
                }
                c = item.charAt(end++);
            }
            if (c < ' ' || c > '~') {
                return Optional.empty();
            }
            key.append(c);
        }
        boolean isString = item.startsWith("\"")
                && end < item.length()
                && PARAMETERS.matcher(item.substring(end + 1)).matches();
        return isString && !key.isEmpty() && key.length() <= longest ? Optional.of(key.toString()) : Optional.empty();
    }
}
