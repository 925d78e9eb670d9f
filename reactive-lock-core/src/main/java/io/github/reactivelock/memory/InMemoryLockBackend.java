package io.github.reactivelock.memory;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockPage;
import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.Vote;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.LongSupplier;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;
import reactor.core.publisher.Mono;

/**
 * A store in the memory of this process. All answers are given at once, on the subscribing thread.
 *
 * <ol>
 *   <li>A claim that fits beside the holders is granted with the next token of one counter, unless others wait; else it
 *       is queued. Each holder has a deadline of its own.
 *   <li>Release hands the lock to the first waiting claims that are alive and fit, and pushes a grant to the client
 *       that waits. As a node of a quorum it goes by the tickets of those that wait.
 *   <li>A lease that has run out is noticed with the next command for the key; waiting claims get a signal to ask then.
 *   <li>A key that is neither held nor waited for takes no memory.
 * </ol>
 *
 * <p>Guarantees: mutual exclusion and arrival order among everything that shares the store, tokens that rise for as
 * long as the store lives, one monotonic clock. Safe for use from any thread; several clients may share one instance,
 * but since a client closes its backend, clients that are closed at different times each take their own
 * {@link #connect()}.
 */
public final class InMemoryLockBackend implements QuorumNode {

    private final Store store;
    private volatile boolean closed;

    private InMemoryLockBackend(Store store) {
        this.store = store;
    }

    /**
     * An empty store that counts leases by {@code System::nanoTime}.
     *
     * @return the first connection to the store
     */
    public static InMemoryLockBackend create() {
        return create(System::nanoTime);
    }

    /**
     * An empty store with a clock of its own, for tests in virtual time.
     *
     * @param nanoClock monotonic, in nanoseconds; may overflow as {@code System::nanoTime} may
     * @return the first connection to the store
     */
    public static InMemoryLockBackend create(LongSupplier nanoClock) {
        return new InMemoryLockBackend(new Store(Objects.requireNonNull(nanoClock, "nanoClock")));
    }

    /**
     * Another connection to the same store, for another client.
     *
     * @return a backend that is closed on its own
     */
    public InMemoryLockBackend connect() {
        return new InMemoryLockBackend(store);
    }

    /**
     * How many keys the store keeps anything for, including expired leases without a command since.
     *
     * @return zero if nothing is held or waited for
     */
    public int size() {
        return store.size();
    }

    @Override
    public String toString() {
        return "memory of this process";
    }

    @Override
    public boolean supports(Share share) {
        return true;
    }

    @Override
    public boolean supportsRecall() {
        return true;
    }

    @Override
    public Mono<Void> recall(String key) {
        return Mono.fromCallable(() -> open().recall(key)).then();
    }

    @Override
    public Mono<ClaimResult> claim(Claim claim) {
        return Mono.fromCallable(() -> open().claim(this, claim));
    }

    @Override
    public Mono<Vote> vote(Claim claim, long ticket, long proposal, Duration longestLease) {
        return Mono.fromCallable(() -> open().vote(this, claim, ticket, proposal, longestLease));
    }

    @Override
    public Mono<Boolean> raise(Claim claim, long fencingToken, long votesNumber) {
        return Mono.fromCallable(() -> open().raise(claim, fencingToken, votesNumber));
    }

    @Override
    public Mono<RenewalResult> renew(List<Claim> held) {
        return Mono.fromCallable(() -> open().renew(held));
    }

    @Override
    public Mono<Boolean> release(Claim claim) {
        return Mono.fromCallable(() -> open().release(claim));
    }

    @Override
    public Mono<Boolean> keep(Claim held, Claim kept) {
        return Mono.fromCallable(() -> open().keep(held, kept));
    }

    @Override
    public Flux<Signal> signals() {
        return Flux.create(sink -> store.listen(this, sink));
    }

    @Override
    public Mono<LockInfo> inspect(String key) {
        return Mono.fromCallable(() -> open().inspect(key));
    }

    @Override
    public Mono<LockPage> list(String prefix, String from) {
        return Mono.fromCallable(() -> open().list(prefix, from));
    }

    @Override
    public Flux<LockEvent> events(String key) {
        return Flux.create(sink -> store.watch(this, key, sink));
    }

    @Override
    public Mono<Boolean> forceRelease(String key, long fencingToken) {
        return Mono.fromCallable(() -> open().forceRelease(key, fencingToken));
    }

    /**
     * Ends this connection: its later commands fail and its signals and events end in an error. What its claims hold is
     * left to run out, and the store and its other connections go on.
     */
    @Override
    public Mono<Void> close() {
        return Mono.fromRunnable(() -> {
            closed = true;
            store.disconnect(this, closedError());
        });
    }

    /** Ends a subscription to a connection that was closed before its turn came. */
    boolean isOpenFor(FluxSink<?> sink) {
        if (closed) {
            sink.error(closedError());
        }
        return !closed;
    }

    /** For one command, which fails once this is closed. */
    private Store open() {
        if (closed) {
            throw closedError();
        }
        return store;
    }

    private static IllegalStateException closedError() {
        return new IllegalStateException("this connection to the in-memory store is closed; connect() another");
    }
}
