package io.github.reactivelock.testkit.history;

import io.github.reactivelock.state.Share;
import org.jspecify.annotations.Nullable;

/** The course of one acquisition, built event by event. Times are -1 until the event came. */
final class Flow {

    static final long NEVER = -1;

    final String key;
    final String id;
    final String client;
    final Share share;
    final long invoked;
    long granted = NEVER;
    long token;
    /** How long the holder may have acted, as far as the history shows. */
    long until;

    long ended = NEVER;
    HistoryEvent.@Nullable Kind end;

    Flow(HistoryEvent invoked) {
        this.key = invoked.key();
        this.id = invoked.id();
        this.client = invoked.client();
        this.share = invoked.share();
        this.invoked = invoked.at();
    }

    void add(HistoryEvent event) {
        switch (event.kind()) {
            case GRANTED -> {
                granted = event.at();
                token = event.token();
                until = event.until();
            }
            case HELD -> until = Math.max(until, event.until());
            case RELEASED, LOST -> end(event);
            case GAVE_UP -> {
                if (end == null) {
                    end(event);
                }
            }
            default -> throw new IllegalArgumentException("not of a flow: " + event);
        }
    }

    private void end(HistoryEvent event) {
        ended = event.at();
        end = event.kind();
    }

    /** A grant that came after its deadline was never a hold. */
    boolean held() {
        return granted != NEVER && heldUntil() > granted;
    }

    long heldUntil() {
        return end == HistoryEvent.Kind.RELEASED || end == HistoryEvent.Kind.LOST ? Math.min(ended, until) : until;
    }

    /**
     * When the store must know that the lock is free: the client may have renewed the lease until it noticed the end.
     */
    long freeFrom(long lease, long lastSeen) {
        if (end == HistoryEvent.Kind.RELEASED) {
            return ended;
        }
        return (end == HistoryEvent.Kind.LOST ? ended : lastSeen) + lease;
    }

    long waitedUntil(long lastSeen) {
        if (granted != NEVER) {
            return granted;
        }
        return ended == NEVER ? lastSeen : ended;
    }

    @Override
    public String toString() {
        return id + " of '" + key + "' (token " + token + (share.isWhole() ? "" : ", " + share.text()) + ")";
    }
}
