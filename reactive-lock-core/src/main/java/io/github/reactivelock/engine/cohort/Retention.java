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
 * What a client keeps idle, the oldest first and no more than so many, and the keys that were called back lately, which
 * are not kept. Safe for use from any thread; {@code synchronized} guards two tables and nothing slower.
 */
final class Retention {

    /** How often a key is taken without a recall before it is kept again; by then it may be this process's. */
    private static final int TAKEN = 2;

    private final int most;
    private final UserCallbacks userCallbacks;
    private final Set<Retained> kept = new LinkedHashSet<>();
    /** How often it was taken since. */
    private final Map<String, Integer> calledBack = new LinkedHashMap<>();

    Retention(int most, UserCallbacks userCallbacks) {
        this.most = most;
        this.userCallbacks = userCallbacks;
    }

    /** Whether the key may be kept now that a claim is done with that was not called back; counts that. */
    synchronized boolean admits(String key) {
        Integer taken = calledBack.get(key);
        if (taken == null) {
            return most > 0;
        }
        if (taken + 1 < TAKEN) {
            calledBack.put(key, taken + 1);
            return false;
        }
        calledBack.remove(key);
        return most > 0;
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
        calledBack.remove(key);
        calledBack.put(key, 0);
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
        return kept.size() > most ? kept.iterator().next() : null;
    }

    synchronized void remove(Retained gone) {
        kept.remove(gone);
    }

    /** Recalls may be missed from now on, or the client is about to be closed. */
    void giveBackAll() {
        all().forEach(each -> each.cohort.post(each::giveBack));
    }

    private synchronized List<Retained> all() {
        return new ArrayList<>(kept);
    }
}
