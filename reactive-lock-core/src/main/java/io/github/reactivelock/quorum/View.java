package io.github.reactivelock.quorum;

import io.github.reactivelock.state.LockInfo;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A lock as the nodes show it that answered. A majority that shows the same owner with the same number, or that the lock is
 * free, is certain. Else an owner may be likely, because a majority shows it with different numbers. Either its votes are
 * being counted, and its token is still to be written back; or it holds the lock, and a node that was not needed for that, whose
 * number is higher, has taken the place of one that the holder has lost since. One of those that were needed is always left,
 * so the token is the lowest number. Time tells: a token is written back at once.
 *
 * @param certain what a majority shows
 * @param likely the owner, with the token that it has if it holds the lock
 * @param shown what single nodes show of owners
 * @param silent how many nodes did not answer
 */
record View(@Nullable LockInfo certain, LockInfo.@Nullable Held likely, List<LockInfo.Held> shown, int silent) {

    /** @param nodes how many there are */
    static View of(String key, List<LockInfo> answers, int nodes) {
        int silent = nodes - answers.size();
        List<LockInfo.Held> shown = new ArrayList<>();
        Map<String, List<LockInfo.Held>> byOwner = new HashMap<>();
        LockInfo certain = null;
        LockInfo.Held likely = null;
        boolean silentDecide = isMajority(silent, nodes);
        for (LockInfo answer : answers) {
            if (answer instanceof LockInfo.Held held) {
                shown.add(held);
                byOwner.computeIfAbsent(held.owner(), owner -> new ArrayList<>())
                        .add(held);
            }
        }
        for (List<LockInfo.Held> held : byOwner.values()) {
            if (isMajority(held.size(), nodes)) {
                likely = withoutAges(Collections.min(held, Comparator.comparingLong(LockInfo.Held::fencingToken)));
                certain = agreed(held, nodes);
            }
            silentDecide |= isMajority(held.size() + silent, nodes);
        }
        if (!silentDecide || isMajority(answers.size() - shown.size(), nodes)) {
            certain = new LockInfo.Free(key);
        }
        return new View(certain, likely, shown, silent);
    }

    private static boolean isMajority(int count, int nodes) {
        return count > nodes / 2;
    }

    private static LockInfo.@Nullable Held agreed(List<LockInfo.Held> ofOneOwner, int nodes) {
        for (LockInfo.Held held : ofOneOwner) {
            long same = ofOneOwner.stream()
                    .filter(other -> other.fencingToken() == held.fencingToken())
                    .count();
            if (isMajority((int) same, nodes)) {
                return withoutAges(held);
            }
        }
        return null;
    }

    /** Nodes know claims by the places that these brought along, which are times of their clients' clocks. */
    private static LockInfo.Held withoutAges(LockInfo.Held held) {
        return new LockInfo.Held(
                held.key(),
                held.owner(),
                held.fencingToken(),
                held.remaining(),
                held.waiters(),
                held.age(),
                held.queue().stream()
                        .map(waiting -> new LockInfo.Waiting(waiting.owner(), null))
                        .toList());
    }

    /** Whether a node shows that number. */
    boolean shows(long number) {
        return shown.stream().anyMatch(held -> held.fencingToken() == number);
    }

    /** Whether a node shows it of that owner. */
    boolean shows(long number, String owner) {
        return shown.stream()
                .anyMatch(held -> held.fencingToken() == number && held.owner().equals(owner));
    }

    /** This, which is of a while later: what is likely still, as it was, is certain. */
    View after(View before) {
        return certain == null && isLikely(before.likely) ? new View(likely, likely, shown, silent) : this;
    }

    private boolean isLikely(LockInfo.@Nullable Held before) {
        return likely != null
                && before != null
                && likely.fencingToken() == before.fencingToken()
                && likely.owner().equals(before.owner());
    }
}
