package io.github.reactivelock.engine.hold;

import io.github.reactivelock.LockContext;
import io.github.reactivelock.state.Share;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import reactor.util.context.ContextView;

/**
 * The holds of a client that are reentrant under a flow's name in the Context. One name may have several holds of a
 * shared lock, if it asked for them before it had any; a later flow joins the newest hold that has as much as it asks
 * for. Safe for use from any thread.
 */
public final class OwnerHolds {

    private record OwnedKey(String owner, String key) {}

    /** The oldest first; never empty, and none of these lists is ever changed. */
    private final Map<OwnedKey, List<Hold>> holds = new ConcurrentHashMap<>();

    @Nullable
    public Hold find(ContextView context, String key, Share asked) {
        return holds.isEmpty()
                ? null
                : LockContext.owner(context)
                        .map(owner -> holds.get(new OwnedKey(owner, key)))
                        .map(several -> best(several, asked))
                        .orElse(null);
    }

    /**
     * One that is over by the clock may be among them still. If all others have too little, the newest is what refuses.
     */
    private static Hold best(List<Hold> several, Share asked) {
        Hold newest = several.get(0);
        Hold fitting = null;
        for (Hold hold : several) {
            if (hold.isHeld()) {
                newest = hold;
                fitting = hold.options.share().covers(asked) ? hold : fitting;
            }
        }
        return fitting == null ? newest : fitting;
    }

    public void adopt(Hold hold, ContextView context) {
        String owner = LockContext.owner(context).orElse(null);
        if (owner != null) {
            hold.contextOwner = owner;
            holds.merge(new OwnedKey(owner, hold.key()), List.of(hold), OwnerHolds::both);
        }
    }

    public void disown(Hold hold) {
        if (hold.contextOwner != null) {
            holds.computeIfPresent(new OwnedKey(hold.contextOwner, hold.key()), (key, all) -> without(all, hold));
        }
    }

    private static List<Hold> both(List<Hold> before, List<Hold> then) {
        return Stream.concat(before.stream(), then.stream()).toList();
    }

    private static @Nullable List<Hold> without(List<Hold> all, Hold gone) {
        List<Hold> left = all.stream().filter(hold -> hold != gone).toList();
        return left.isEmpty() ? null : left;
    }

    public boolean isEmpty() {
        return holds.isEmpty();
    }
}
