package io.github.reactivelock.simulation;

import io.github.reactivelock.state.Share;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What is known of a lock. */
final class KnownLock {

    final List<Holding> inside = new ArrayList<>();

    /** With the highest token. */
    private @Nullable Holding highest;

    private @Nullable Holding highestWhole;

    private final List<Share> wanted = new ArrayList<>();
    /**
     * Flows that may have it without being inside: they want other locks too, or a cancel of their work still blocks.
     */
    int hadOutside;

    /** When somebody came or went, or something broke. */
    long movedAt;

    private long unwantedSince;

    KnownLock(long now) {
        movedAt = now;
        unwantedSince = now;
    }

    /** Whose token one that begins now has to be above; null if there is none. */
    @Nullable
    Holding before(Holding begun) {
        return begun.isShared ? highestWhole : highest;
    }

    void begins(Holding begun) {
        Holding known = highest;
        if (known == null || known.handle.fencingToken() < begun.handle.fencingToken()) {
            highest = begun;
        }
        highestWhole = begun.isShared ? highestWhole : begun;
    }

    /** Time in which no flow waited does not count as standing still. */
    void waits(long now, Share share) {
        if (wanted.isEmpty()) {
            movedAt += Math.max(0, now - Math.max(movedAt, unwantedSince));
        }
        wanted.add(share);
    }

    void waitsNoMore(long now, Share share) {
        wanted.remove(share);
        if (wanted.isEmpty()) {
            unwantedSince = now;
        }
    }

    boolean stoodStill(long now, long longest) {
        return hadOutside == 0 && now - movedAt > longest;
    }

    /** Somebody waits, or is inside, if only to leave. */
    boolean isWanted() {
        return !wanted.isEmpty() || !inside.isEmpty();
    }

    int waiting() {
        return wanted.size();
    }

    /** The first in the store's queue has room, and its claim is granted. */
    boolean hasRoom() {
        long used = inside.stream().mapToLong(hold -> hold.share.units()).sum();
        long most = wanted.stream().mapToLong(Share::units).max().orElse(0);
        return !wanted.isEmpty()
                && (inside.isEmpty() || wanted.stream().allMatch(share -> used + most <= share.capacity()));
    }

    /** Who is inside, if it is one and holds it. */
    @Nullable
    Holding onlyHolding() {
        return inside.size() == 1 && inside.get(0).isHeld() ? inside.get(0) : null;
    }
}
