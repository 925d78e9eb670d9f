package io.github.reactivelock.simulation;

import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.Simulated;
import io.github.reactivelock.spi.FencingTokens;
import io.github.reactivelock.state.Share;
import io.github.reactivelock.testkit.history.HistoryEvent;
import io.github.reactivelock.testkit.history.HistoryEvent.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A flow that is inside, and what it may believe. */
final class Holding {

    static final long MASK = -FencingTokens.of(1);

    /** Stands between a client's name and what tells apart the owners that its flows name. */
    static final String OWNER = "/";

    final Machine machine;
    final String key;
    final LockHandle handle;
    /** What the flow asked for. */
    final Share share;
    /** Others may be in. */
    final boolean isShared;
    /** As the checker of histories reads it; empty if the lock was lost before the flow began. */
    final List<HistoryEvent> history = new ArrayList<>();

    private final String id;
    private final LockOptions options;
    /** No other flow has the lock before, in the world's time. */
    private long takenUntil;
    /** As its client said last. */
    private long reliedUntil;

    Holding(Machine machine, LockHandle handle, LockOptions options, long number) {
        this.id = machine.name + "#" + number;
        this.machine = machine;
        this.key = handle.key();
        this.handle = handle;
        this.share = options.share();
        this.isShared = !share.isWhole();
        this.options = options;
        this.takenUntil = options.minHold().map(machine::worldTimeIn).orElse(0L);
    }

    /**
     * False while its machine is suspended: it does nothing then, and afterwards it sees for how long it did nothing.
     */
    boolean isHeld() {
        return !machine.isSuspended() && handle.isHeld();
    }

    boolean isReader() {
        return share.equals(Share.ONE);
    }

    String claim() {
        return Simulated.claimOf(handle);
    }

    /** Whether a store shows this as the owner: its client, or an owner that a flow of it named. */
    boolean isOf(String owner) {
        String claim = claim();
        String client = claim.substring(0, claim.lastIndexOf('.'));
        return owner.equals(client) || owner.startsWith(client + OWNER);
    }

    /** Whether its permits may go to flows of that client that wait for more of the same. */
    boolean isOfThePermitsOf(String refused) {
        return Simulated.isOfAPermitQueue(handle)
                && claim().startsWith(refused.substring(0, refused.lastIndexOf('.') + 1));
    }

    /** The store's token, without the passes. */
    long granted() {
        return handle.fencingToken() & MASK;
    }

    /** Until when the flow relies on the lock, in the world's time. */
    long until() {
        return machine.worldTimeIn(handle.remaining());
    }

    /** Until when its client relied on it, as it said last. */
    long reliedUntil() {
        return reliedUntil;
    }

    long takenUntil() {
        return takenUntil;
    }

    /** A hold that was lost by its lease keeps the lock for the delay after that; false if it does not. */
    boolean outlasts(long now) {
        Duration delay = options.lockDelay().orElse(Duration.ZERO);
        boolean outlasts = !delay.isZero() && !handle.isHeld() && Simulated.hasExpired(handle);
        if (outlasts) {
            takenUntil = reliedUntil + (machine.worldTimeIn(delay) - now);
        }
        return outlasts;
    }

    /** Flows of a process that share a claim have passes of one token. */
    boolean hasTokenOf(Holding other) {
        return granted() == other.granted() && !claim().equals(other.claim());
    }

    void begin(long now) {
        record(Kind.INVOKED, now, 0);
        record(Kind.GRANTED, now, until());
    }

    /**
     * A look at the handle, which shows an end before it reaches the work; false if it is held again after that.
     */
    boolean look(long now) {
        if (history.isEmpty() || machine.isSuspended()) {
            return true;
        }
        boolean isHeld = isHeld();
        if (wasLost()) {
            return !isHeld;
        }
        if (isHeld) {
            record(Kind.HELD, now, until());
        } else {
            record(Kind.LOST, now, 0);
        }
        return true;
    }

    private boolean wasLost() {
        return history.get(history.size() - 1).kind() == Kind.LOST;
    }

    void end(long now) {
        if (isHeld() && !history.isEmpty() && !wasLost()) {
            record(Kind.RELEASED, now, 0);
        }
    }

    private void record(Kind kind, long now, long until) {
        int last = history.size() - 1;
        reliedUntil = Math.max(reliedUntil, until);
        if (kind == Kind.HELD && history.get(last).kind() == Kind.HELD) { // the latest says it all
            history.remove(last);
        }
        history.add(new HistoryEvent(now, machine.name, kind, key, id, handle.fencingToken(), until));
    }

    @Override
    public String toString() {
        String what = isReader() ? "a share of '" : isShared ? share.text() + " of '" : "'";
        return what + key + "' on " + machine.name + ", token " + handle.fencingToken();
    }
}
