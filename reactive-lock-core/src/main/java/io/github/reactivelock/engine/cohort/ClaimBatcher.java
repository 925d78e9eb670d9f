package io.github.reactivelock.engine.cohort;

import io.github.reactivelock.Fairness;
import io.github.reactivelock.engine.claim.Attempt;
import io.github.reactivelock.engine.claim.Grant;
import io.github.reactivelock.engine.time.Timing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;

/**
 * First questions of flows that queue each for itself ({@link Fairness#FIFO}), put to the store together: while this
 * process has the lock, and got it in its turn, they wait for the answer to its release, or for a millisecond. Flows
 * that take a lock again and again would else drift apart in the store's queue. The last of those that stand together
 * learns of its release one answer later than the others; by then another process has sent its own, and the lock must
 * go there and back for a single flow. (Group commit, known from the logs of databases: DeWitt et al., "Implementation
 * techniques for main memory database systems", SIGMOD 1984.) Touched only inside its key's events.
 *
 * <pre>
 * state   has               leaves on
 * shut    no grant          a grant to a claim that queued, behind one the store named -> open
 * open    grant, attempts   the end of that grant -> shut, all are asked; a millisecond after the first: all are asked
 * </pre>
 */
final class ClaimBatcher {

    /** Nanoseconds; a few round trips within a data centre, and too short for anybody to lose much of a turn. */
    private static final long LONGEST = Duration.ofMillis(1).toNanos();

    private final KeyContext keyContext;
    private final Timing timing;
    private @Nullable Grant during;
    private List<Attempt> attempts = new ArrayList<>();
    private Disposable limit = Disposables.disposed();

    ClaimBatcher(KeyContext keyContext, Timing timing) {
        this.keyContext = keyContext;
        this.timing = timing;
    }

    /** Claims wait from now on; a grant that it was open for before does not matter any more. */
    void open(Grant grant) {
        if (during == null) {
            keyContext.stay();
        }
        during = grant;
    }

    boolean isOpenFor(Grant grant) {
        return during == grant;
    }

    /** The store has answered the release of a grant, or will not. */
    void shut(Grant ended) {
        if (isOpenFor(ended)) {
            during = null;
            askAll();
            keyContext.depart();
        }
    }

    /** False if this one has nothing to wait for. */
    boolean takes(Attempt attempt) {
        if (during == null) {
            return false;
        }
        attempts.add(attempt);
        if (attempts.size() == 1) {
            limit = timing.after(LONGEST, () -> keyContext.post(this::askAll));
        }
        return true;
    }

    private void askAll() {
        limit.dispose();
        List<Attempt> gathered = attempts;
        attempts = new ArrayList<>();
        gathered.forEach(Attempt::begin);
    }
}
