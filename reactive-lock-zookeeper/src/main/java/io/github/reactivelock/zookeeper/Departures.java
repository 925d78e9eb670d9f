package io.github.reactivelock.zookeeper;

import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Which commands leave for the server, and when. Only so many are unanswered at a time, the others stand in a line: one
 * that is not wanted any more goes from there without a trace. One that has left counts until it is answered, whether
 * its asker still waits or not, because the server and Curator deal with it all the same. Safe for use from any thread.
 */
final class Departures {

    /** Who leaves before whom. */
    enum Rank {
        /** About holds: few, and they stand behind none. */
        HOLD,
        /** The end of a claim, which lets others in. */
        END,
        /** What is there. */
        LOOK,
        /** What makes new work: claims and their watches. */
        OTHER
    }

    /** A part of the 1,000 after which a server reads no more (its {@code globalOutstandingLimit}). */
    static final int MOST = 128;

    private final Map<Rank, Set<Runnable>> lines = new EnumMap<>(Rank.class);
    private final AtomicInteger steps = new AtomicInteger();
    private int unanswered;
    private volatile int most = MOST;
    private volatile int standing;

    Departures() {
        for (Rank rank : Rank.values()) {
            lines.put(rank, new LinkedHashSet<>());
        }
    }

    /** Runs it when it is its turn, perhaps at once; {@link #answered} has to follow. */
    void add(Rank rank, Runnable command) {
        if (rank == Rank.HOLD) {
            command.run();
            return;
        }
        synchronized (this) {
            line(rank).add(command);
            standing++;
        }
        letGo();
    }

    /** It is not wanted any more. */
    synchronized void withdraw(Rank rank, Runnable command) {
        if (line(rank).remove(command)) {
            standing--;
        }
    }

    void answered(Rank rank) {
        if (rank != Rank.HOLD) {
            synchronized (this) {
                unanswered--;
            }
            letGo();
        }
    }

    /** Whether there are more commands than may leave. */
    boolean isCrowded() {
        return standing > 0;
    }

    /** All that stand here leave: there is no server any more, and each is to find that out. */
    void end() {
        most = Integer.MAX_VALUE;
        letGo();
    }

    /** One at a time, because what leaves may be answered at once. */
    private void letGo() {
        int missed = 1;
        if (steps.getAndIncrement() != 0) {
            return;
        }
        while (missed != 0) {
            Runnable next = next();
            while (next != null) {
                next.run();
                next = next();
            }
            missed = steps.addAndGet(-missed);
        }
    }

    private synchronized @Nullable Runnable next() {
        if (standing == 0 || unanswered >= most) {
            return null;
        }
        for (Set<Runnable> line : lines.values()) {
            if (!line.isEmpty()) {
                Runnable first = line.iterator().next();
                line.remove(first);
                standing--;
                unanswered++;
                return first;
            }
        }
        return null;
    }

    private Set<Runnable> line(Rank rank) {
        return Objects.requireNonNull(lines.get(rank));
    }
}
