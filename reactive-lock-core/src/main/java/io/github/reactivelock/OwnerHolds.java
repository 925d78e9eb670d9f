package io.github.reactivelock;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import reactor.util.context.ContextView;

/** The holds of a client that are reentrant under an owner named in the Context. Safe for use from any thread. */
final class OwnerHolds {

    private record OwnedKey(String owner, String key) {}

    private final Map<OwnedKey, Hold> holds = new ConcurrentHashMap<>();

    @Nullable
    Hold find(ContextView context, String key) {
        return holds.isEmpty()
                ? null
                : LockContext.owner(context)
                        .map(owner -> holds.get(new OwnedKey(owner, key)))
                        .orElse(null);
    }

    void adopt(Hold hold, ContextView context) {
        LockContext.owner(context).ifPresent(owner -> {
            hold.contextOwner = owner;
            holds.put(new OwnedKey(owner, hold.key()), hold);
        });
    }

    void disown(Hold hold) {
        if (hold.contextOwner != null) {
            holds.remove(new OwnedKey(hold.contextOwner, hold.key()), hold);
        }
    }

    boolean isEmpty() {
        return holds.isEmpty();
    }
}
