package io.github.reactivelock.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.github.reactivelock.state.Share;
import java.util.Collection;
import java.util.List;

/**
 * The claims of a lock in the order in which their keys were made. Each is in that fits its capacity with all those
 * before it, up to the first that does not fit. As keys come at the end only, who is in stays in for as long as its key
 * is there.
 *
 * @param claims oldest first
 * @param in how many of them are in
 * @param units how many units these take
 */
record Line(List<KeyValue> claims, int in, long units) {

    static Line of(Collection<KeyValue> oldestFirst) {
        int in = 0;
        long units = 0;
        for (KeyValue claim : oldestFirst) {
            Share share = KeyLayout.share(claim.getKey());
            if (!fits(share, units)) {
                break;
            }
            in++;
            units += share.units();
        }
        return new Line(List.copyOf(oldestFirst), in, units);
    }

    private static boolean fits(Share share, long used) {
        return used + share.units() <= share.capacity();
    }

    List<KeyValue> holders() {
        return claims.subList(0, in);
    }

    List<KeyValue> waiting() {
        return claims.subList(in, claims.size());
    }

    /** Whether a claim that came now would be in. */
    boolean hasRoomFor(Share share) {
        return in == claims.size() && fits(share, units);
    }

    /** Where the claim of that name stands, which is for a share. */
    QueuePosition positionOf(ByteSequence name) {
        for (int place = 0; place < claims.size(); place++) {
            KeyValue claim = claims.get(place);
            if (claim.getKey().equals(name)) {
                return new QueuePosition(claim.getCreateRevision(), place < in ? null : awaited(place));
            }
        }
        return QueuePosition.NONE;
    }

    /**
     * What a waiting claim for a share waits for: the last before it that wants the whole, or else the one just before
     * it.
     */
    KeyValue awaited(int place) {
        for (int before = place - 1; before >= 0; before--) {
            if (KeyLayout.share(claims.get(before).getKey()).isWhole()) {
                return claims.get(before);
            }
        }
        return claims.get(place - 1);
    }
}
