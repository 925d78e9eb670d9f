package io.github.reactivelock.testkit.history;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.state.Share;
import io.github.reactivelock.testkit.history.HistoryEvent.Kind;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import reactor.core.publisher.Mono;

/**
 * Records what the flows of one client saw and, through {@link #observe}, what its claims saw. It records a grant after
 * it came and a release before it leaves, so the record never shows more than the holder believed. Safe for use from
 * any thread.
 */
public final class History {

    private final String client;
    private final Consumer<HistoryEvent> sink;
    private final AtomicLong flows = new AtomicLong();

    /**
     * Records of a client.
     *
     * @param client its name, which no other client of the same history has
     * @param sink where the records go, a {@link HistoryFile} or a thread-safe collection
     */
    public History(String client, Consumer<HistoryEvent> sink) {
        this.client = Objects.requireNonNull(client, "client");
        this.sink = Objects.requireNonNull(sink, "sink");
    }

    /**
     * A backend that records the claims that go through it.
     *
     * @param backend the real one
     * @return what to make the client with
     */
    public LockBackend observe(LockBackend backend) {
        return new RecordedBackend(backend, this);
    }

    /**
     * {@code LockClient.withLock}, recorded, of the client's share. It also records each call of
     * {@link LockHandle#isHeld()}. The checker assumes that a holder that never calls it acts only until its first
     * lease ends.
     *
     * @param lock the client
     * @param key the lock's key
     * @param work what to do
     * @param <T> the value's type
     * @return as {@code withLock}
     */
    public <T> Mono<T> withLock(LockClient lock, String key, Function<? super LockHandle, ? extends Mono<T>> work) {
        return flow(lock, key, flow -> lock.withLock(key, held -> flow.under(held, work)));
    }

    /**
     * {@code LockClient.tryAcquire}, recorded, with work and a release after it.
     *
     * @param lock the client
     * @param key the lock's key
     * @param work what to do if the lock was free
     * @param <T> the value's type
     * @return the work's value, or empty if the lock was not free
     */
    public <T> Mono<T> tryLock(LockClient lock, String key, Function<? super LockHandle, ? extends Mono<T>> work) {
        return flow(
                lock,
                key,
                flow -> lock.tryAcquire(key)
                        .flatMap(held -> flow.under(held, work)
                                .materialize()
                                .flatMap(end -> held.release().thenReturn(end))
                                .dematerialize()));
    }

    /**
     * Records that a fault begins.
     *
     * @param name of the fault
     */
    public void faultBegan(String name) {
        add(Kind.FAULT_BEGAN, "", name, 0, 0);
    }

    /**
     * Records that the fault is over.
     *
     * @param name of the fault
     */
    public void faultEnded(String name) {
        add(Kind.FAULT_ENDED, "", name, 0, 0);
    }

    /**
     * The connections that carry pushes were cut and nothing else. For a lease and a second a store may serve others
     * before a waiter that it cannot reach. It must still serve some waiter promptly.
     */
    public void pushesCut() {
        add(Kind.PUSHES_CUT, "", "pushes", 0, 0);
    }

    /**
     * Records that a client was killed; its holds and claims end by themselves.
     *
     * @param name of that client
     */
    public void killed(String name) {
        add(Kind.KILLED, "", name, 0, 0);
    }

    void stalled(long from, long until) {
        sink.accept(new HistoryEvent(from, client, Kind.STALLED, "", "stall", 0, until));
    }

    void add(Kind kind, String key, String id, long token, long until) {
        add(kind, key, id, token, until, Share.WHOLE);
    }

    void add(Kind kind, String key, String id, long token, long until, Share share) {
        sink.accept(new HistoryEvent(System.nanoTime(), client, kind, key, id, token, until, share));
    }

    /** The clock is read first: a pause between the two makes the holder believe less, not more. */
    void addHeld(Kind kind, String id, LockHandle held, Share share) {
        long now = System.nanoTime();
        long until = now + held.remaining().toNanos();
        sink.accept(new HistoryEvent(now, client, kind, held.key(), id, held.fencingToken(), until, share));
    }

    private <T> Mono<T> flow(LockClient lock, String key, Function<RecordedFlow, Mono<T>> acquisition) {
        Share share = lock.options().share();
        return Mono.defer(() -> {
            RecordedFlow flow = new RecordedFlow(this, key, client + "#" + flows.incrementAndGet(), share);
            add(Kind.INVOKED, key, flow.id(), 0, 0, share);
            return acquisition.apply(flow).doOnTerminate(flow::over).doOnCancel(flow::over);
        });
    }
}
