package io.github.reactivelock.fuzzing;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A reader of what comes from outside.
 *
 * @param name for people
 * @param reader reads a text and judges what it reads
 * @param seeds texts to begin with
 */
public record Target(String name, Consumer<String> reader, List<String> seeds) {

    /** A password, where it stands before an at sign and nowhere else. */
    public static final String SECRET = "s3cr3t";

    public static Target of(String name, Consumer<String> reader, String... seeds) {
        return new Target(name, reader, List.of(seeds));
    }

    /** What is read, or null where it is refused with exactly this exception: any other one is a finding. */
    @CanIgnoreReturnValue
    public static <T> T read(Supplier<T> read, Class<? extends RuntimeException> refusal) {
        try {
            return read.get();
        } catch (RuntimeException e) {
            if (e.getClass() == refusal) {
                return null;
            }
            throw e;
        }
    }

    public static boolean hasSecret(String text) {
        return text.contains(":" + SECRET + "@") && text.indexOf(SECRET) == text.lastIndexOf(SECRET);
    }

    /** As {@link #read}, and the refusal does not repeat a password. */
    @CanIgnoreReturnValue
    public static <T> T readAddress(Supplier<T> read, String text) {
        return read(
                () -> {
                    try {
                        return read.get();
                    } catch (RuntimeException e) {
                        must(
                                !hasSecret(text)
                                        || !String.valueOf(e.getMessage()).contains(SECRET),
                                "no secret in the error");
                        throw e;
                    }
                },
                IllegalArgumentException.class);
    }

    /** What was read without an exception, of which nothing more is asked. */
    public static void use(Object... read) {}

    public static void must(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }
}
