package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A watcher of a lock sees each grant and each release, however quickly they follow one another. */
class EventsTest extends EachDatabase {

    private static final int PAIRS = 40;
    private static final int FLOWS = 40;

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void everyPairOfManyQuickOnesIsAnnounced(Databases database) {
        R2dbcLockBackend holder = database.backend();
        R2dbcLockBackend watcher = database.backend();
        String key = UUID.randomUUID().toString();
        Queue<LockEvent> seen = new ConcurrentLinkedQueue<>();
        Disposable watching = watcher.events(key).subscribe(seen::add);
        Databases.until("the watch is in force", () -> !seen.isEmpty());

        List<LockEvent> expected = new ArrayList<>(seen);
        for (int i = 0; i < PAIRS; i++) {
            Claim claim = new Claim(key, UUID.randomUUID().toString(), "me", Duration.ofMinutes(10), Claim.Mode.QUEUE);
            ClaimResult.Granted granted =
                    (ClaimResult.Granted) holder.claim(claim).block(Databases.LIMIT);
            assertThat(holder.release(claim).block(Databases.LIMIT)).isTrue();
            expected.add(new LockEvent.Acquired(key, "me", granted.fencingToken()));
            expected.add(new LockEvent.Released(key, granted.fencingToken()));
        }

        Databases.until("all is seen", () -> seen.size() >= expected.size());
        assertThat(seen).containsExactlyElementsOf(expected);
        watching.dispose();
        holder.close().then(watcher.close()).block(Databases.LIMIT);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void everyPairOfManyFlowsThatContendIsAnnounced(Databases database) {
        R2dbcLockBackend watcher = database.backend();
        List<LockClient> clients = Stream.generate(() -> LockClient.builder(database.backend())
                        .commandTimeout(Duration.ofSeconds(40))
                        .options(LockOptions.defaults().withFairness(Fairness.FIFO))
                        .build())
                .limit(4)
                .toList();
        String key = UUID.randomUUID().toString();
        Queue<LockEvent> seen = new ConcurrentLinkedQueue<>();
        Disposable watching = watcher.events(key).subscribe(seen::add);
        Databases.until("the watch is in force", () -> !seen.isEmpty());
        Queue<Long> tokens = new ConcurrentLinkedQueue<>();

        Object unused = Flux.range(0, FLOWS)
                .flatMap(
                        flow -> clients.get(flow % clients.size())
                                .withLock(key, held -> Mono.fromRunnable(() -> tokens.add(held.fencingToken()))),
                        FLOWS)
                .then()
                .block(Databases.LIMIT);

        List<LockEvent> expected = new ArrayList<>();
        expected.add(seen.peek());
        tokens.forEach(token -> {
            expected.add(new LockEvent.Acquired(key, "", token));
            expected.add(new LockEvent.Released(key, token));
        });
        Databases.until("all is seen", () -> seen.size() >= expected.size());
        assertThat(seen.stream()
                        .map(event -> event instanceof LockEvent.Acquired acquired
                                ? new LockEvent.Acquired(key, "", acquired.fencingToken())
                                : event))
                .containsExactlyElementsOf(expected);
        watching.dispose();
        Flux.fromIterable(clients)
                .flatMap(LockClient::close)
                .then(watcher.close())
                .block(Databases.LIMIT);
    }

    /** As an operator may remove it, or the cleaner after the database's clock had been ahead. */
    @Test
    void whoWatchesHearsOfTheNextOwnerAfterTheRowWasRemoved() {
        Databases database = databases().get(1);
        R2dbcLockBackend backend = database.backend();
        Queue<LockEvent> seen = new ConcurrentLinkedQueue<>();
        Disposable watching = backend.events("removed").subscribe(seen::add);
        Databases.until("the watch is in force", () -> !seen.isEmpty());
        database.execute("DELETE FROM reactive_lock WHERE lock_key = 'removed'");

        Claim claim =
                new Claim("removed", UUID.randomUUID().toString(), "me", Duration.ofMinutes(10), Claim.Mode.QUEUE);
        assertThat(backend.claim(claim).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Granted.class);

        Databases.until(
                "it is told who has it",
                () -> seen.stream()
                        .anyMatch(event -> event instanceof LockEvent.Snapshot now
                                && now.info() instanceof LockInfo.Held held
                                && held.owner().equals("me")));
        watching.dispose();
        Object unused = backend.close().block(Databases.LIMIT);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aWatcherSeesAnEndHiddenByAnotherWatchersMark(Databases database) {
        R2dbcLockBackend backend = database.backend();
        R2dbcLockBackend later = database.backend();
        String key = UUID.randomUUID().toString();
        Claim claim = new Claim(key, UUID.randomUUID().toString(), "me", Duration.ofMinutes(10), Claim.Mode.QUEUE);
        assertThat(backend.claim(claim).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Granted.class);
        Queue<LockEvent> seen = new ConcurrentLinkedQueue<>();
        Disposable watching = backend.events(key).subscribe(seen::add);
        Databases.until("the watch is in force", () -> !seen.isEmpty());
        database.execute("DELETE FROM reactive_lock");

        Queue<LockEvent> seenLater = new ConcurrentLinkedQueue<>();
        Disposable watchingLater = later.events(key).subscribe(seenLater::add);
        Databases.until("the new row is marked", () -> !seenLater.isEmpty());

        LockEvent free = new LockEvent.Snapshot(new LockInfo.Free(key));
        assertThat(seenLater).containsExactly(free);
        Databases.until("it is told that the lock is free", () -> seen.contains(free));
        watching.dispose();
        watchingLater.dispose();
        backend.close().then(later.close()).block(Databases.LIMIT);
    }
}
