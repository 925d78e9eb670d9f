package io.github.reactivelock.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.options.GetOption;
import io.github.reactivelock.state.LockInfo;
import java.util.List;

/** Parts of a lock's queue of claims, which stand in the order in which their keys were made. */
final class Ranges {

    /** The owner, by name. */
    static final GetOption FIRST = oldestFirst().withLimit(1).withKeysOnly(true).build();

    /** The owner, with its value. */
    static final GetOption OWNER = oldestFirst().withLimit(1).build();

    /** The owner and the first of those that wait, with their values. */
    static final GetOption SHOWN =
            oldestFirst().withLimit(LockInfo.Held.MOST_SHOWN + 1L).build();

    /** All, with their values. */
    static final GetOption ALL = oldestFirst().build();

    /** All, by name. */
    static final GetOption QUEUE = oldestFirst().withKeysOnly(true).build();

    static final GetOption COUNT =
            GetOption.builder().isPrefix(true).withCountOnly(true).build();

    /** The newest claim and the one before it. */
    static final GetOption LAST_TWO = newestFirst().build();

    /** What shows all that is wanted, of one look at a queue or of several. */
    static GetOption partFor(List<GetOption> wanted) {
        GetOption first = wanted.isEmpty() ? FIRST : wanted.get(0);
        if (wanted.stream().allMatch(other -> other == first)) {
            return first;
        }
        return wanted.contains(ALL) ? ALL : QUEUE;
    }

    /** How many claims a part of a list is made of. */
    static final int PART = 500;

    private Ranges() {}

    /** Names alone, in their order, up to an end. */
    static GetOption names(ByteSequence end) {
        return GetOption.builder()
                .withRange(end)
                .withKeysOnly(true)
                .withLimit(PART)
                .withSortField(GetOption.SortTarget.KEY)
                .withSortOrder(GetOption.SortOrder.ASCEND)
                .build();
    }

    /** The claim made at a revision and the one before it. */
    static GetOption lastTwoUpTo(long revision) {
        return newestFirst().withMaxCreateRevision(revision).build();
    }

    /** The claim made at a revision and all before it, by name. */
    static GetOption queueUpTo(long revision) {
        return oldestFirst().withKeysOnly(true).withMaxCreateRevision(revision).build();
    }

    /** Only the claim made at a revision. */
    static GetOption madeAt(long revision) {
        return GetOption.builder()
                .isPrefix(true)
                .withKeysOnly(true)
                .withMinCreateRevision(revision)
                .withMaxCreateRevision(revision)
                .build();
    }

    private static GetOption.Builder oldestFirst() {
        return GetOption.builder()
                .isPrefix(true)
                .withSortField(GetOption.SortTarget.CREATE)
                .withSortOrder(GetOption.SortOrder.ASCEND);
    }

    private static GetOption.Builder newestFirst() {
        return GetOption.builder()
                .isPrefix(true)
                .withSortField(GetOption.SortTarget.CREATE)
                .withSortOrder(GetOption.SortOrder.DESCEND)
                .withLimit(2)
                .withKeysOnly(true);
    }
}
