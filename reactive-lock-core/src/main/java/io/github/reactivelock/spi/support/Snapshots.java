package io.github.reactivelock.spi.support;

import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

/**
 * Snapshots of this process, from which several others may go on. None is taken while a store may know this process,
 * because it would take each copy for the same; afterwards every {@link LateId} is drawn anew. Where {@code org.crac}
 * is on the class path (CRaC, SnapStart), a checkpoint calls this. Who takes snapshots by other means, such as a
 * template of a machine, calls {@link #begin} and {@link #end}. Safe for use from any thread.
 */
public final class Snapshots {

    /** One whom a store may know. Asks {@link #isBeingTaken} before it begins something, and counts it before that. */
    public interface Participant {

        /**
         * Why no snapshot may be taken. Asked again when {@link #isBeingTaken} is true, so what begins is seen here or
         * sees that.
         *
         * @return what is in the way, and what to do first; empty if nothing is
         */
        String obstacle();
    }

    /** A test forgets those of the tests before it. */
    static final Set<Participant> PARTICIPANTS = Collections.newSetFromMap(new WeakHashMap<>());

    private static final AtomicInteger TAKEN = new AtomicInteger();
    private static volatile boolean beingTaken;

    static {
        try {
            CracCheckpoints.register();
        } catch (LinkageError absent) { // the application takes no snapshots, or by other means
            beingTaken = false;
        }
    }

    private Snapshots() {}

    /**
     * Adds one that is asked from now on.
     *
     * @param participant forgotten when no other object knows it
     */
    public static void join(Participant participant) {
        synchronized (PARTICIPANTS) {
            PARTICIPANTS.add(participant);
        }
    }

    /**
     * Before a snapshot. From here until {@link #end} no client asks its store anything.
     *
     * @throws IllegalStateException if none may be taken now; the message says what is in the way and what to do. Then
     * all goes on
     */
    public static void begin() {
        look(); // a certain refusal disturbs no client
        beingTaken = true;
        try {
            look();
        } catch (IllegalStateException refusal) {
            beingTaken = false;
            throw refusal;
        }
    }

    private static void look() {
        List<Participant> all;
        synchronized (PARTICIPANTS) {
            all = List.copyOf(PARTICIPANTS);
        }
        String obstacles = all.stream()
                .map(Participant::obstacle)
                .filter(obstacle -> !obstacle.isEmpty())
                .distinct()
                .collect(Collectors.joining("; "));
        if (!obstacles.isEmpty()) {
            throw new IllegalStateException(
                    "no snapshot of this process can be taken, because its copies would hold locks" + " together: "
                            + obstacles);
        }
    }

    /** After a snapshot, in this process or in a copy. Without a {@link #begin} that succeeded it does nothing. */
    public static void end() {
        if (beingTaken) {
            TAKEN.incrementAndGet();
            beingTaken = false;
        }
    }

    /**
     * Whether a snapshot is being taken, so that nothing may begin.
     *
     * @return true from {@link #begin} to {@link #end}
     */
    public static boolean isBeingTaken() {
        return beingTaken;
    }

    /** How many were taken before now. A name that was drawn at another number may be known to a copy. */
    static int taken() {
        return TAKEN.get();
    }
}
