package io.github.reactivelock.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A Lua script and the name that Redis gives it.
 *
 * @param body the script's text
 * @param sha1 its digest, in lower-case hexadecimal digits, as {@code EVALSHA} wants it
 */
public record RedisScript(String body, String sha1) {

    /** All of the lock protocol: one script, so that a server knows either every verb of it or none. */
    static final RedisScript LOCK = load("lock.lua");

    // ERR Error running script (call to f_1): @user_script:56: @user_script: 56: -READONLY You can't write ...
    private static final Pattern WRAPPED =
            Pattern.compile("(?:ERR Error running script [^:]*: )?(?:@user_script: ?\\d+: )+-(\\w+)");

    /**
     * The lock protocol's script, for connections that load it ahead of its first use.
     *
     * @return the script
     */
    public static RedisScript lock() {
        return LOCK;
    }

    /**
     * The code of an error that a server answered: its first word. Redis before 7 puts the place in the script before
     * the error of a command that a script ran; this looks behind it.
     *
     * @param error what the server said
     * @return for example {@code READONLY}
     */
    public static String errorCode(String error) {
        Matcher wrapped = WRAPPED.matcher(error);
        if (wrapped.lookingAt()) {
            return wrapped.group(1);
        }
        int end = error.indexOf(' ');
        return end < 0 ? error : error.substring(0, end);
    }

    static RedisScript load(String resource) {
        try (InputStream in = RedisScript.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new IllegalStateException("resource " + resource + " is missing from the jar");
            }
            byte[] body = in.readAllBytes();
            String sha1 =
                    HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(body));
            return new RedisScript(new String(body, StandardCharsets.UTF_8), sha1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
