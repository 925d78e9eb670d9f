package io.github.reactivelock.simulation;

import io.github.reactivelock.simulation.Agenda.Event;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Time, chance, and the one line of events that everything in a simulation happens in. For one thread. */
final class World {

    /** Keeps what goes through it in order, as a connection or a worker does. */
    static final class Channel {
        private long last;

        long after(long at) {
            last = Math.max(at, last + 1);
            return last;
        }
    }

    static final int MOST_BLOCKED = 5;

    private final Agenda agenda = new Agenda();
    private final SplittableRandom random;
    private final @Nullable Consumer<String> log;
    private long now;
    private long happened;
    /** Threads that stand still now, each on the stack of the one before. */
    private int blocked;

    private long trace = 17;

    World(long seed, @Nullable Consumer<String> log) {
        this.random = new SplittableRandom(seed);
        this.log = log;
    }

    /** Nanoseconds since the beginning, which is a while after zero. */
    long now() {
        return now;
    }

    SplittableRandom random() {
        return random;
    }

    boolean chance(double share) {
        return random.nextDouble() < share;
    }

    /** A number of nanoseconds up to {@code most}, small ones far more often than large ones. */
    long shortTime(long most) {
        double share = random.nextDouble();
        return (long) (most * share * share * share);
    }

    /** Any number of nanoseconds up to {@code most}. */
    long anyTime(long most) {
        return (long) (most * random.nextDouble());
    }

    /**
     * As {@link #at}, before all else that happens then, and without a choice: with or without it, all else is the
     * same.
     */
    void atFirst(long time, Runnable task) {
        agenda.put(new Event(task), Math.max(time, now), Long.MIN_VALUE);
    }

    Event at(long time, Runnable task) {
        Event event = new Event(task);
        put(event, time);
        return event;
    }

    /** Gives an event another time, when it is its turn and it cannot be yet. */
    void put(Event event, long time) {
        agenda.put(event, Math.max(time, now), random.nextLong());
    }

    void callOff(Event event) {
        agenda.callOff(event);
    }

    /** False when nothing is left to happen before that time, which has come then. */
    boolean next(long until) {
        Event first = agenda.next(until);
        if (first == null) {
            now = Math.max(now, until);
            return false;
        }
        now = first.at();
        happened++;
        trace = trace * 31 + now;
        first.happen();
        return true;
    }

    /** The thread that runs now stands still for so long, and until its process runs, and everything else goes on. */
    void block(long nanos, LongSupplier processRunsAt) {
        if (blocked < MOST_BLOCKED) {
            blocked++;
            long until = now + nanos;
            while (next(Math.max(until, processRunsAt.getAsLong())) || now < processRunsAt.getAsLong()) {
                // what happens meanwhile may stop the process
            }
            blocked--;
        }
    }

    long happened() {
        return happened;
    }

    /** Two runs with the same number did the same at the same times. */
    long trace() {
        return trace;
    }

    boolean isLogged() {
        return log != null;
    }

    void log(String who, String what) {
        if (log != null) {
            log.accept(String.format("%12.6f  %-10s %s", now / 1e9, who, what));
        }
    }
}
