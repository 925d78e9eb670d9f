package io.github.reactivelock.spi.queue;

import io.github.reactivelock.spi.Claim;
import java.time.Duration;

/**
 * What is written into a claim's entry for those who look at it: who made it, its lease in milliseconds and its owner's
 * name, with a space between. It decides nothing.
 *
 * @param client the backend that made it, by the name under which it takes notices; without a space
 * @param lease the lease that was asked for
 * @param owner a name for people
 */
public record Content(String client, Duration lease, String owner) {

    /**
     * What the entry of a claim holds.
     *
     * @param client the backend that makes it
     * @param claim the claim
     * @return with the claim's lease and owner
     */
    public static Content of(String client, Claim claim) {
        return new Content(client, claim.lease(), claim.owner());
    }

    /**
     * Writes it.
     *
     * @return what {@link #parse} reads
     */
    public String text() {
        return client + " " + lease.toMillis() + " " + owner;
    }

    /**
     * Reads it. The whole text of an entry that is not ours becomes the owner's name.
     *
     * @param text what an entry holds
     * @return with an empty client and no lease, if it is not ours
     */
    public static Content parse(String text) {
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
