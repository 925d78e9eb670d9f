package io.github.reactivelock.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.election.LeaderElection;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** Every call that a client of locks offers, once. */
final class Everything implements AutoCloseable {

    private static final LockOptions OPTIONS = LockOptions.defaults().withLease(Client.LEASE);

    private static final Share PERMITS = Share.permits(2, 3);

    private final boolean countsPermits;
    private final LockClient client;
    private final LockClient rival;

    private Everything(Supplier<LockBackend> backend) {
        LockBackend first = backend.get();
        countsPermits = first.supports(PERMITS);
        client = client(first);
        rival = client(backend.get());
    }

    private static LockClient client(LockBackend backend) {
        return LockClient.builder(backend)
                .commandTimeout(Lab.LIMIT)
                .options(OPTIONS)
                .build();
    }

    /** By two clients of one user. Fails with what the first call failed with that may not be made. */
    static void of(Supplier<LockBackend> backend) {
        try (Everything all = new Everything(backend)) {
            all.wholeLocks();
            all.shares();
            if (all.countsPermits) { // a quorum does not
                all.permits();
            }
            all.keptLocks();
            all.election();
        }
    }

    private void wholeLocks() {
        ask(client.ready());
        BlockingQueue<Object> events = new LinkedBlockingQueue<>();
        Disposable watching = client.events("a").subscribe(events::add, events::add);
        assertThat(next(events)).isInstanceOf(LockEvent.Snapshot.class);
        LockHandle first = ask(client.acquire("a"));
        assertThat(next(events)).isInstanceOf(LockEvent.Acquired.class);
        assertThat(rival.tryAcquire("a").blockOptional(Lab.LIMIT)).isEmpty();
        CompletableFuture<LockHandle> leaver = rival.acquire("a").toFuture();
        untilWaiting("a", 1);
        leaver.cancel(true);
        untilWaiting("a", 0);
        CompletableFuture<LockHandle> waiter = rival.acquire("a").toFuture();
        untilWaiting("a", 1);
        client.tryAcquire("another").flatMap(LockHandle::release).block(Lab.LIMIT);
        first.renew().block(Lab.LIMIT);
        assertThat(ask(client.isCurrent("a", first.fencingToken()))).isTrue();
        assertThat(client.list("").collectList().block(Lab.LIMIT))
                .extracting(LockInfo.Held::key)
                .containsExactly("a");
        CompletableFuture<Boolean> ended =
                client.awaitRelease("a").thenReturn(true).toFuture();
        first.release().block(Lab.LIMIT);
        assertThat(waiter.orTimeout(Lab.LIMIT.toSeconds(), TimeUnit.SECONDS)
                        .join()
                        .isHeld())
                .isTrue();
        assertThat(ask(client.forceRelease("a"))).isTrue();
        assertThat(ask(waiter.join().lost())).hasMessageContaining("'a'");
        // It has seen one of the two grants first, and both have ended.
        assertThat(ended.orTimeout(Lab.LIMIT.toSeconds(), TimeUnit.SECONDS).join())
                .isTrue();
        watching.dispose();
    }

    private void shares() {
        LockHandle reader = ask(client.shared().acquire("shared"));
        LockHandle other = ask(rival.shared().acquire("shared"));
        CompletableFuture<LockHandle> writer =
                rival.with(OPTIONS.withOwner("writer")).acquire("shared").toFuture();
        untilWaiting("shared", 1);
        reader.renew().block(Lab.LIMIT);
        other.renew().block(Lab.LIMIT);
        assertThat(client.list("sha").collectList().block(Lab.LIMIT)).hasSize(1);
        reader.release().block(Lab.LIMIT);
        other.release().block(Lab.LIMIT);
        writer.orTimeout(Lab.LIMIT.toSeconds(), TimeUnit.SECONDS)
                .join()
                .release()
                .block(Lab.LIMIT);
    }

    private void permits() {
        LockHandle two = ask(client.permits(2, 3).acquire("permits"));
        assertThat(rival.permits(2, 3).tryAcquire("permits").blockOptional(Lab.LIMIT))
                .isEmpty();
        LockHandle one = ask(rival.permits(1, 3).acquire("permits"));
        assertThat(ask(client.forceRelease("permits"))).isTrue();
        Mono.when(two.release(), one.release()).onErrorComplete().block(Lab.LIMIT);
    }

    private void keptLocks() {
        LockOptions kept = OPTIONS.withMinHold(Duration.ofSeconds(1));
        ask(client.with(kept).acquire("kept")).release().block(Lab.LIMIT);
        assertThat(rival.tryAcquire("kept").blockOptional(Lab.LIMIT)).isEmpty();
        ask(client.with(kept).shared().acquire("kept share")).release().block(Lab.LIMIT);
        assertThat(rival.tryAcquire("kept share").blockOptional(Lab.LIMIT)).isEmpty();
    }

    private void election() {
        String led = ask(LeaderElection.of(client, "leader").leadOnce(leadership -> Mono.just("led")));
        assertThat(led).isEqualTo("led");
    }

    private void untilWaiting(String key, int count) {
        Lab.eventually(count + " wait for " + key, () -> waiters(key) == count);
    }

    private long waiters(String key) {
        return ask(client.inspect(key)) instanceof LockInfo.Held held ? held.waiters() : 0L;
    }

    private static Object next(BlockingQueue<Object> queue) {
        try {
            return queue.poll(Lab.LIMIT.toSeconds(), TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static <T> T ask(Mono<T> question) {
        return question.block(Lab.LIMIT);
    }

    @Override
    public void close() {
        Mono.when(client.close(), rival.close()).block(Lab.LIMIT);
    }
}
