package io.github.reactivelock.engine.cohort;

import io.github.reactivelock.engine.claim.Grant;
import io.github.reactivelock.engine.user.UserCallbacks;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a client keeps idle, the oldest first and no more than so many (rule 7 of {@code docs/design/retention.md}), and
 * the keys that were called back lately, which are not kept. Safe for use from any thread; {@code synchronized} guards
 * two tables and nothing slower.
 */
final class Retention {

    /** How often a key is taken without a recall before it is kept again; by then it may be this process's. */
    private static final int TAKEN = 2;
    /** How often one is taken that was called back again and again before a flow took what was kept. */
    private static final int MOST_TAKEN = 64;

    private final int most;
    private final UserCallbacks userCallbacks;
    private final Set<Retained> kept = new LinkedHashSet<>();
    private final Map<String, CalledBack> calledBack = new LinkedHashMap<>();

    /**
     * A key that was called back: how often it is to be taken before it is kept again, and how often it was. Only the
     * last {@link #TAKEN} of them ask the store to call back.
     */
    private static final class CalledBack {
        final int needed;
        int taken;

        CalledBack(int needed) {
            this.needed = needed;
        }
    }

    Retention(int most, UserCallbacks userCallbacks) {
        this.most = most;
        this.userCallbacks = userCallbacks;
    }

    /** Whether a claim of the key that begins now may be kept, or counts among those that were not called back. */
    synchronized boolean mayKeepNext(String key) {
        CalledBack known = calledBack.get(key);
        return known == null || known.taken >= known.needed - TAKEN;
    }

    /** A claim is done with that the store could not call back. */
    synchronized void taken(String key) {
        CalledBack known = calledBack.get(key);
        if (known != null && known.taken < known.needed - TAKEN) {
            known.taken++;
        }
    }

    /** Rule 6: whether the key may be kept now that a claim is done with that was not called back; counts that. */
    synchronized boolean admits(String key) {
        CalledBack known = calledBack.get(key);
        return (known == null || ++known.taken >= known.needed) && most > 0;
    }

    /** A flow took what was kept, so it was worth it. */
    synchronized void hit(String key) {
        calledBack.remove(key);
    }

    /** The grant is another's soon; told once of each. */
    void recalled(Grant grant) {
        if (grant.recall()) {
            String key = grant.claim.key();
            remember(key);
            userCallbacks.later(listener -> listener.recalled(key));
        }
    }

    private synchronized void remember(String key) {
        CalledBack before = calledBack.remove(key);
        calledBack.put(key, new CalledBack(before == null ? TAKEN : Math.min(2 * before.needed, MOST_TAKEN)));
        if (calledBack.size() > most) {
            Iterator<String> oldest = calledBack.keySet().iterator();
            oldest.next();
            oldest.remove();
        }
    }

    void add(Retained added) {
        Retained oldest = put(added);
        if (oldest != null) {
            oldest.cohort.post(oldest::giveBack);
        }
    }

    private synchronized @Nullable Retained put(Retained added) {
        kept.add(added);
        if (kept.size() <= most) {
            return null;
        }
        Iterator<Retained> oldestFirst = kept.iterator();
        Retained oldest = oldestFirst.next();
        oldestFirst.remove();
        return oldest;
    }

    synchronized void remove(Retained gone) {
        kept.remove(gone);
    }

    synchronized boolean isEmpty() {
        return kept.isEmpty();
    }

    /** Recalls may be missed from now on, or the client is about to be closed. */
    void giveBackAll() {
        all().forEach(each -> each.cohort.post(each::giveBack));
    }

    private synchronized List<Retained> all() {
        return new ArrayList<>(kept);
    }
}
