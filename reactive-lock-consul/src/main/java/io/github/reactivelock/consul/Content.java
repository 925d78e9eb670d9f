package io.github.reactivelock.consul;

import io.github.reactivelock.spi.Claim;
import java.time.Duration;

/**
 * What is written into a claim's key: who made it, its lease in milliseconds and its owner's name, with a space
 * between.
 *
 * @param client the backend that made it, as in {@link KeyLayout#notice}
 * @param lease the lease that was asked for
 * @param owner a name for people
 */
record Content(String client, Duration lease, String owner) {

    static Content of(String client, Claim claim) {
        return new Content(client, claim.lease(), claim.owner());
    }

    String text() {
        return client + " " + lease.toMillis() + " " + owner;
    }

    /** What a key that is not ours holds becomes the owner's name. */
    static Content parse(String text) {
        String[] parts = text.split(" ", 3);
        try {
            return parts.length < 3
                    ? new Content("", Duration.ZERO, text)
                    : new Content(parts[0], Duration.ofMillis(Long.parseLong(parts[1])), parts[2]);
        } catch (NumberFormatException e) {
            return new Content("", Duration.ZERO, text);
        }
    }
}
