package io.github.reactivelock.zookeeper;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.queue.Place;
import io.github.reactivelock.spi.queue.PlaceQueue;
import io.github.reactivelock.state.Share;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The name of a claim's node below its lock: the claim's id, a colon, for a share its units and capacity with a dot
 * between and another colon, and the number that the server gave it. One that can be called back has there, instead of
 * a share, an exclamation mark and its client. Numbers grow by one with every claim on the lock, as signed integers
 * that overflow, and are compared by difference.
 *
 * @param name the node's name
 * @param claimId the claim's id
 * @param share how much of the lock it wants
 * @param number its place in the queue
 * @param recalls the client that takes its recalls, or empty if it cannot be called back
 */
record SequenceNode(String name, String claimId, Share share, int number, String recalls) implements Place {

    private static final String RECALLABLE = "!";

    /** The claims among the names of nodes below a lock. */
    static PlaceQueue<SequenceNode> queue(List<String> names) {
        List<SequenceNode> places = new ArrayList<>(names.size());
        for (String name : names) {
            SequenceNode place = of(name);
            if (place != null) {
                places.add(place);
            }
        }
        if (places.size() > 1) {
            int some = places.get(0).number;
            places.sort(Comparator.comparingInt(place -> place.number - some));
        }
        return PlaceQueue.of(places);
    }

    /** The node of a claim that is not called back. */
    SequenceNode(String name, String claimId, Share share, int number) {
        this(name, claimId, share, number, "");
    }

    /** The node of a claim for the whole. */
    SequenceNode(String name, String claimId, int number) {
        this(name, claimId, Share.WHOLE, number);
    }

    /** What a claim's node is called, without the number. */
    static String prefix(Claim claim, String client) {
        return claim.recallable() && claim.share().isWhole()
                ? claim.id() + ":" + RECALLABLE + client + ":"
                : prefix(claim.id(), claim.share());
    }

    static String prefix(String claimId, Share share) {
        return claimId + ":" + (share.isWhole() ? "" : share.units() + "." + share.capacity() + ":");
    }

    /** The place that a node stands for, or null if it is not one of ours. */
    static @Nullable SequenceNode of(String name) {
        int colon = name.lastIndexOf(':');
        if (colon <= 0) {
            return null;
        }
        try {
            int number = Integer.parseInt(name, colon + 1, name.length(), 10);
            int first = name.indexOf(':');
            String more = first == colon || first == 0 ? "" : name.substring(first + 1, colon);
            if (more.startsWith(RECALLABLE)) {
                String client = more.substring(RECALLABLE.length());
                return new SequenceNode(name, name.substring(0, first), Share.WHOLE, number, client);
            }
            Share share = more.isEmpty() ? Share.WHOLE : share(more);
            String claimId = name.substring(0, share.isWhole() ? colon : first);
            return new SequenceNode(name, claimId, share, number);
        } catch (NumberFormatException e) {
            return null;
        }
    }

    /** What is no share that we know is as good as the whole: none may be in beside it. */
    private static Share share(String text) {
        int dot = text.indexOf('.');
        try {
            return new Share(
                    Integer.parseInt(text, 0, Math.max(0, dot), 10),
                    Integer.parseInt(text, dot + 1, text.length(), 10));
        } catch (IllegalArgumentException e) {
            return Share.WHOLE;
        }
    }

    static boolean isRecallable(String name) {
        return name.contains(":" + RECALLABLE);
    }

    @Override
    public boolean isRecallable() {
        return !recalls.isEmpty();
    }

    boolean isBefore(SequenceNode other) {
        return number - other.number < 0;
    }
}
