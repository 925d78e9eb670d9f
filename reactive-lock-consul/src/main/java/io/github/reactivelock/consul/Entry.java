package io.github.reactivelock.consul;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.FencingTokens;
import io.github.reactivelock.spi.queue.ClaimEntry;
import io.github.reactivelock.spi.queue.Content;
import io.github.reactivelock.spi.queue.Place;
import io.github.reactivelock.spi.queue.PlaceQueue;
import io.github.reactivelock.state.Share;
import java.util.Comparator;
import java.util.List;

/**
 * A key as one answer of Consul showed it.
 *
 * @param key its whole name
 * @param created the index of the write that made it
 * @param modified the index of the last write to it
 * @param acquired how often a session has acquired it
 * @param session the session that has acquired it, or empty
 * @param flags a number of the writer's: of a claim, its share, or that it can be called back
 * @param value what it holds, as text
 */
record Entry(String key, long created, long modified, long acquired, String session, long flags, String value)
        implements Place, ClaimEntry<Entry> {

    /** No share has it: it would be the sign of a capacity. */
    private static final long RECALLABLE = 1L << 31;

    /** The claims among keys below a lock. A key that no session has is none. */
    static PlaceQueue<Entry> queue(List<Entry> keys) {
        return PlaceQueue.of(keys.stream()
                .filter(key -> !key.session.isEmpty())
                .sorted(Comparator.comparingLong(Entry::created))
                .toList());
    }

    /** The flags of a claim's key: the units and the capacity, or for the whole only whether it can be called back. */
    static long flags(Claim claim) {
        Share share = claim.share();
        if (share.isWhole()) {
            return claim.recallable() ? RECALLABLE : 0;
        }
        return (long) share.units() << Integer.SIZE | share.capacity();
    }

    @Override
    public boolean isRecallable() {
        return flags == RECALLABLE;
    }

    @Override
    public String name() {
        return key;
    }

    /** What is no share that we know is as good as the whole: none may be in beside it. */
    @Override
    public Share share() {
        int units = (int) (flags >>> Integer.SIZE);
        int capacity = (int) flags;
        try {
            return flags == 0 || flags == RECALLABLE ? Share.WHOLE : new Share(units, capacity);
        } catch (IllegalArgumentException e) {
            return Share.WHOLE;
        }
    }

    /** The name of the claim whose key this is. */
    @Override
    public String claimId() {
        return key.substring(key.lastIndexOf('/') + 1);
    }

    Content content() {
        return Content.parse(value);
    }

    /** The fencing token of a claim with this key: it is written once, so both indexes are those of the acquisition. */
    @Override
    public long token() {
        return token(created);
    }

    /** Below the token of this claim, and not below that of any made before it. */
    long newestTokenBefore() {
        return token(created - 1);
    }

    /** Whether it is as it was made. */
    boolean isAsMade() {
        return created == modified;
    }

    /** Whether the same write made both, and none has changed them since: a few answers leave out what a key holds. */
    @Override
    public boolean isAt(Entry place) {
        return key.equals(place.key)
                && created == place.created
                && modified == place.modified
                && session.equals(place.session);
    }

    static long token(long index) {
        if (index < 0 || index > FencingTokens.HIGHEST_NUMBER) {
            throw new IllegalStateException("Consul's index " + index + " no longer fits into a fencing token");
        }
        return FencingTokens.of(index);
    }
}
