package io.github.reactivelock.testkit.history;

import io.github.reactivelock.state.Share;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;

/**
 * One thing that happened to a flow, to a claim or to the surroundings.
 *
 * @param at {@link System#nanoTime()}, which all processes of one Linux machine share
 * @param client which process, or which client in it
 * @param kind what happened
 * @param key the lock's key, empty for what concerns all locks
 * @param id of the flow, of the claim, or the name of the fault
 * @param token the fencing token, zero where there is none
 * @param until how long the holder may act without an answer of the store, or how long a stall lasted; else zero
 * @param share how much of the lock a flow wants or has, or a claim asks for; the whole where nothing was said
 */
public record HistoryEvent(
        long at, String client, Kind kind, String key, String id, long token, long until, Share share) {

    /**
     * An event of the whole lock, or of no lock.
     *
     * @param at {@link System#nanoTime()}, which all processes of one Linux machine share
     * @param client which process, or which client in it
     * @param kind what happened
     * @param key the lock's key, empty for what concerns all locks
     * @param id of the flow, of the claim, or the name of the fault
     * @param token the fencing token, zero where there is none
     * @param until how long the holder may act without an answer of the store, or how long a stall lasted; else zero
     */
    public HistoryEvent(long at, String client, Kind kind, String key, String id, long token, long until) {
        this(at, client, kind, key, id, token, until, Share.WHOLE);
    }

    /** What happened. */
    public enum Kind {
        /** A flow asked for a lock. */
        INVOKED,
        /** A flow got it. */
        GRANTED,
        /** A holder looked, and could still act. */
        HELD,
        /** A holder stopped acting, and gives the lock up. */
        RELEASED,
        /** A holder learned of its loss. */
        LOST,
        /** A flow gave up, or the lock was refused. */
        GAVE_UP,
        /** A claim was sent to the store. */
        ASKED,
        /** The store answered that a claim waits. */
        QUEUED,
        /** The store granted a claim. */
        SERVED,
        /** A claim was released, or taken out of the queue. */
        WITHDRAWN,
        /** A fault was injected; while it lasts, order and prompt service are not judged. */
        FAULT_BEGAN,
        /** The fault is over. */
        FAULT_ENDED,
        /** Connections that carry pushes were cut: the store may pass over waiters until they listen again. */
        PUSHES_CUT,
        /** The process that the id names was killed. */
        KILLED,
        /** A process had no processor, or did not run, from the event's time to its {@code until}. */
        STALLED
    }

    /** As one line of text without a line break. */
    String line() {
        return at + " " + text(client) + " " + kind + " " + text(key) + " " + text(id) + " " + token + " " + until
                + (share.isWhole() ? "" : " " + share.units() + " " + share.capacity());
    }

    /** The event that {@link #line()} was made of. */
    static HistoryEvent of(String line) {
        String[] words = line.split(" ", -1);
        return new HistoryEvent(
                Long.parseLong(words[0]),
                URLDecoder.decode(words[1], StandardCharsets.UTF_8),
                Kind.valueOf(words[2]),
                URLDecoder.decode(words[3], StandardCharsets.UTF_8),
                URLDecoder.decode(words[4], StandardCharsets.UTF_8),
                Long.parseLong(words[5]),
                Long.parseLong(words[6]),
                words.length == 7 ? Share.WHOLE : new Share(Integer.parseInt(words[7]), Integer.parseInt(words[8])));
    }

    private static String text(String any) {
        boolean isPlain = any.chars().allMatch(c -> c > ' ' && c < 0x7f && c != '%' && c != '+');
        return isPlain ? any : URLEncoder.encode(any, StandardCharsets.UTF_8);
    }
}
