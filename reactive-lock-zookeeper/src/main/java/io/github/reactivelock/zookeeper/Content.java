package io.github.reactivelock.zookeeper;

import io.github.reactivelock.spi.Claim;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * What is written into a claim's node: who made it, its lease in milliseconds and its owner's name, with a space
 * between.
 *
 * @param session the backend that made it, as in {@link KeyLayout#notice}
 * @param lease the lease that was asked for
 * @param owner a name for people
 */
record Content(String session, Duration lease, String owner) {

    static Content of(String session, Claim claim) {
        return new Content(session, claim.lease(), claim.owner());
    }

    byte[] bytes() {
        return KeyLayout.bytes(session + " " + lease.toMillis() + " " + owner);
    }

    /** What a node that is not ours holds becomes the owner's name. */
    static Content parse(byte[] data) {
        String text = new String(data, StandardCharsets.UTF_8);
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
