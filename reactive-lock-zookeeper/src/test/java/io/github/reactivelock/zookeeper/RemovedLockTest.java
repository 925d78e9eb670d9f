package io.github.reactivelock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** A watcher while the server removes a lock's node, as it does with one that was free for a minute. */
class RemovedLockTest extends Fixture {

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3})
    void whoWatchesHearsOfTheFirstOwnerAfterTheNodeWasRemoved(int ownersBefore) throws Exception {
        LockClient client = client();
        Queue<LockEvent> events = new ConcurrentLinkedQueue<>();
        Disposable watching = client.events(key).subscribe(events::add);
        ZooKeepers.until("the watcher looked", () -> !events.isEmpty());
        for (int i = 0; i < ownersBefore; i++) {
            ownedAndHeard(client, events);
        }
        removeTheLocksNode();

        ownedAndHeard(client, events);
        ownedAndHeard(client, events);

        watching.dispose();
        assertThat(events.stream().filter(LockEvent.Released.class::isInstance)).hasSize(ownersBefore + 2);
    }

    @Test
    void awaitReleaseEndsAfterANodeWasRemovedAndMadeAnew() throws Exception {
        LockClient client = client();
        ZooKeepers.get(client.withLock(key, Mono.empty()).then(client.withLock(key, Mono.empty())));
        removeTheLocksNode();
        LockHandle held = ZooKeepers.get(client.acquire(key));

        var released = client.awaitRelease(key).toFuture();
        ZooKeepers.get(held.release());

        ZooKeepers.get(released);
    }

    private void removeTheLocksNode() throws Exception {
        Void unused = zookeeper.delete().quietly().forPath("/reactivelock/" + key);
    }

    private static void ownedAndHeard(LockClient client, Queue<LockEvent> events) throws Exception {
        String key = events.element().key();
        LockHandle held = ZooKeepers.get(client.acquire(key));
        ZooKeepers.until("it is told who has it", () -> events.stream().anyMatch(event -> tellsOf(event, held)));
        ZooKeepers.get(held.release());
        ZooKeepers.until("it is told of the end", () -> events.stream().anyMatch(event -> tellsTheEndOf(event, held)));
    }

    private static boolean tellsOf(LockEvent event, LockHandle held) {
        if (event instanceof LockEvent.Snapshot seen) {
            return seen.info() instanceof LockInfo.Held now && now.fencingToken() == held.fencingToken();
        }
        return event instanceof LockEvent.Acquired grant && grant.fencingToken() == held.fencingToken();
    }

    private static boolean tellsTheEndOf(LockEvent event, LockHandle held) {
        return event instanceof LockEvent.Released end && end.fencingToken() == held.fencingToken();
    }
}
