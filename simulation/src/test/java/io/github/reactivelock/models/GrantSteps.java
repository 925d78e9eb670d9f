package io.github.reactivelock.models;

/**
 * What the client of {@code models/Grant.tla} knows, and its steps, formula by formula and with the same names. Two
 * things the model leaves out are added: the margin, and that a hold has to have a third of its lease left to begin.
 */
final class GrantSteps {

    private enum Phase {
        TRYING,
        HELD,
        OVER
    }

    private final long lease;
    private final long margin;
    private Phase phase = Phase.TRYING;
    private int asked;
    private long ungrantedAt;
    private long newest;
    private int askedThen;
    private long token;
    private long confirmedAt;

    GrantSteps(long lease, long margin) {
        this.lease = lease;
        this.margin = margin;
    }

    boolean isTrying() {
        return phase == Phase.TRYING;
    }

    long token() {
        return token;
    }

    /** Of the hold, less than nothing if it is over. */
    long remaining(long now) {
        return confirmedAt + lease - margin - now;
    }

    boolean relies(long now) {
        return phase == Phase.HELD && remaining(now) > 0;
    }

    /** The number of the question. */
    int ask(long now) {
        if (asked == 0) {
            ungrantedAt = now;
        }
        return ++asked;
    }

    void hearGranted(int number, long sentAt, long granted, long now) {
        boolean isOldNews = number <= askedThen && granted <= newest;
        if (isOldNews) {
            return;
        }
        if (phase == Phase.TRYING) {
            heard(granted);
            hold(granted, sentAt, now);
        } else if (phase == Phase.HELD && granted == token) {
            confirmInTime(sentAt, now);
        } else if (phase == Phase.HELD && granted > token) {
            lose();
        }
    }

    void hearQueued(long sentAt, long last) {
        if (phase == Phase.TRYING) {
            newest = Math.max(newest, last);
            askedThen = asked;
            ungrantedAt = Math.max(ungrantedAt, sentAt);
        } else if (phase == Phase.HELD && last >= token) {
            lose();
        }
    }

    void hearRenewed(long sentAt, long now) {
        if (phase == Phase.HELD) {
            confirmInTime(sentAt, now);
        }
    }

    void hearPush(long granted, long now) {
        if (phase == Phase.TRYING && granted > newest) {
            heard(granted);
            hold(granted, ungrantedAt, now);
        }
    }

    /** The store said so, or a timer ran after the deadline. */
    void lose() {
        phase = Phase.OVER;
    }

    private void heard(long granted) {
        if (granted > newest + 1) {
            newest = granted - 1;
            askedThen = asked;
        }
    }

    private void hold(long granted, long since, long now) {
        if (since + lease - margin - now >= lease / 3) {
            phase = Phase.HELD;
            token = granted;
            confirmedAt = since;
        }
    }

    private void confirmInTime(long since, long now) {
        if (remaining(now) <= 0) {
            lose();
        } else {
            confirmedAt = Math.max(confirmedAt, since);
        }
    }
}
