package io.github.reactivelock.spi.support;

import java.security.SecureRandom;
import java.util.Base64;

/**
 * Names that cannot be guessed and that no two processes ever give: 128 random bits. For clients and sessions, made
 * once each; reading the random bits may read a file, so it has no place where it is done for every claim.
 */
public final class RandomId {

    private RandomId() {}

    /**
     * A fresh one.
     *
     * @return 22 letters, digits, hyphens and underscores
     */
    public static String next() {
        byte[] random = new byte[16];
        new SecureRandom().nextBytes(random);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(random);
    }
}
