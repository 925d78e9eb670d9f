package io.github.reactivelock.engine.store;

import io.github.reactivelock.engine.time.Timing;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * How many claims may be unanswered at a time: as many as the store answers in time. One that is late still works
 * through what is not waited for any more, and each claim that is given up leaves a release behind; asked as much as
 * before, it would be late for ever. So where claims are late, and none is in time, half as many may be unanswered, and
 * one more for each that is answered soon (Jacobson, "Congestion avoidance and control", SIGCOMM 1988). Times are of
 * the clock of silence. Safe for use from any thread.
 */
public final class Window {

    /** What drivers and servers take in far less time than the command timeout. */
    public static final int MOST = 4_096;

    /** Few enough for a store that many processes ask. */
    static final int LEAST = 8;

    private final Timing timing;
    private final AtomicInteger unanswered = new AtomicInteger();
    /**
     * Those of them that the backend holds back: the store has not got them, and they take no turn from others.
     */
    private final AtomicInteger heldBack = new AtomicInteger();

    private final AtomicInteger width = new AtomicInteger(MOST);
    /** In about the order in which they left. */
    private final Queue<Permit> givenUp = new ConcurrentLinkedQueue<>();
    /** Answers in time, but not soon. */
    private final AtomicInteger slow = new AtomicInteger();
    /** When a claim was last answered in time. */
    private volatile long inTimeAt;

    /** When one was last answered at all, or soon refused. */
    private volatile long answeredAt;

    private volatile long narrowedAt;

    Window(Timing timing) {
        this.timing = timing;
        this.inTimeAt = timing.silentNow();
        this.answeredAt = inTimeAt;
        this.narrowedAt = inTimeAt;
    }

    /** True if one more claim may leave, which is counted then. */
    boolean lets() {
        int then = unanswered.incrementAndGet();
        boolean lets = then <= MOST && then - heldBack.get() <= width.get();
        if (!lets) {
            unanswered.decrementAndGet();
        }
        return lets;
    }

    /** No answer is waited for any more to a claim that left. */
    void settled() {
        unanswered.decrementAndGet();
    }

    /** One that left was seen to be held back by the backend. */
    void stands() {
        heldBack.incrementAndGet();
    }

    /** It is there no more, or is about to be settled. */
    void standsNoMore() {
        heldBack.decrementAndGet();
    }

    /** This one is not waited for any more, and its time is not over. */
    void givenUp(Permit claim) {
        givenUp.add(claim);
    }

    /** Called by the engine's tick. */
    public void tick(long now) {
        Permit first = givenUp.peek();
        while (first != null && first.isOver(now)) {
            givenUp.remove(first);
            first = givenUp.peek();
        }
    }

    int unanswered() {
        return unanswered.get();
    }

    /** Claims were late, and not enough have been in time since then. */
    boolean isNarrow() {
        return width.get() < MOST;
    }

    /** When the store last showed that it deals with claims. */
    long answeredAt() {
        return answeredAt;
    }

    int width() {
        return width.get();
    }

    /** The store answered a claim that left then, whether somebody still waited or not. */
    void answered(long leftAt) {
        long now = timing.silentNow();
        answeredAt = now;
        if (now - leftAt >= timing.commandTimeout) {
            late(leftAt);
            return;
        }
        inTimeAt = now;
        int before = width.get();
        if (before < MOST && (isSoon(now - leftAt) || slow.incrementAndGet() % before == 0)) {
            width.compareAndSet(before, before + 1);
        }
    }

    /**
     * A claim that left then was refused. If that is soon, those behind it hear the same when it is their turn, and not
     * that the store is silent; whether it would have been in time is not known.
     */
    void refused(long leftAt) {
        long now = timing.silentNow();
        if (isSoon(now - leftAt)) {
            answeredAt = now;
        }
    }

    /** Far from what would make it late again. */
    private boolean isSoon(long took) {
        return took < timing.commandTimeout / 4;
    }

    /**
     * A claim that left then was not answered in time. That tells nothing if another one was meanwhile, as where one
     * shard of a store is gone, and nothing new if it left before it was known.
     */
    void late(long leftAt) {
        if (leftAt - inTimeAt >= 0 && leftAt - narrowedAt >= 0) {
            narrowedAt = timing.silentNow();
            width.updateAndGet(before -> Math.max(LEAST, Math.min(before, unanswered.get() - heldBack.get()) / 2));
        }
    }
}
