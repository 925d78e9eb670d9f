package io.github.reactivelock.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.watch.WatchEvent;
import io.github.reactivelock.state.LockEvent;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The claims on a lock as a watch has shown them so far, and who came in and went by each change. Used by one
 * subscription.
 */
final class Events {

    private final String key;
    private final TreeMap<Long, KeyValue> claims = new TreeMap<>();
    private final Map<ByteSequence, Long> revisions = new HashMap<>();
    private List<KeyValue> holders;

    Events(String key, List<KeyValue> now) {
        this.key = key;
        now.forEach(this::enter);
        this.holders = holders();
    }

    private void enter(KeyValue claim) {
        claims.put(claim.getCreateRevision(), claim);
        revisions.put(claim.getKey(), claim.getCreateRevision());
    }

    List<LockEvent> follow(List<WatchEvent> changes) {
        List<LockEvent> events = new ArrayList<>();
        for (WatchEvent change : changes) {
            if (change.getEventType() == WatchEvent.EventType.PUT) {
                enter(change.getKeyValue());
            } else {
                leave(change.getKeyValue().getKey());
            }
            tell(events);
        }
        return events;
    }

    private void leave(ByteSequence name) {
        Long revision = revisions.remove(name);
        if (revision != null) {
            claims.remove(revision);
        }
    }

    private List<KeyValue> holders() {
        return KeyQueue.of(claims.values()).holders();
    }

    private void tell(List<LockEvent> events) {
        List<KeyValue> before = holders;
        holders = holders();
        before.stream()
                .filter(holder -> !claims.containsKey(holder.getCreateRevision()))
                .map(gone -> new LockEvent.Released(
                        key,
                        ClaimRegistry.token(gone.getCreateRevision()),
                        KeyLayout.share(gone.getKey()).units()))
                .forEach(events::add);
        long newest = before.isEmpty() ? 0 : before.get(before.size() - 1).getCreateRevision();
        holders.stream()
                .filter(holder -> holder.getCreateRevision() > newest)
                .map(fresh -> new LockEvent.Acquired(
                        key,
                        ClaimValue.of(fresh).owner(),
                        ClaimRegistry.token(fresh.getCreateRevision()),
                        KeyLayout.share(fresh.getKey()).units()))
                .forEach(events::add);
    }
}
