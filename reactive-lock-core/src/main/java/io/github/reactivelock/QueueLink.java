package io.github.reactivelock;

import org.jspecify.annotations.Nullable;

/**
 * Where a cohort of a single flow stands in the store's queue, the owner's place included: which neighbours of the same
 * client it has. As a queue grows at its end only, neighbours stay that until one of them leaves. Touched only inside
 * its key's events.
 */
final class QueueLink {

    private final Cohort cohort;
    private @Nullable QueueLink ahead;
    private @Nullable QueueLink behind;

    QueueLink(Cohort cohort) {
        this.cohort = cohort;
    }

    /** Whom the store serves directly after this one, if that is known and of this client. */
    @Nullable
    Cohort next() {
        return behind == null ? null : behind.cohort;
    }

    /** The store said that it serves this one directly after the other. */
    void follow(QueueLink other) {
        if (other.behind != null) {
            other.behind.advance();
        }
        other.behind = this;
        ahead = other;
    }

    /** This one is served, by the store or by the one ahead. */
    void advance() {
        if (ahead != null) {
            ahead.behind = null;
            ahead = null;
        }
    }

    /** This one gives up its claim: what was behind it is behind what was ahead of it. */
    void leave() {
        if (ahead != null) {
            ahead.behind = behind;
        }
        if (behind != null) {
            behind.ahead = ahead;
        }
        ahead = null;
        behind = null;
    }
}
