package io.github.reactivelock.faults;

import io.github.reactivelock.spi.LockBackend;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;

/** A store to break: its real servers, and what an operator can do to them and see in them. */
abstract class Store implements AutoCloseable {

    final Backends backends = new Backends();

    /** Where its servers listen, at 127.0.0.1. */
    abstract List<Integer> ports();

    /** What {@link Backends} makes a backend of, by the ports of the servers or of proxies before them. */
    abstract String address(List<Integer> ports);

    /** The lease of the holds of a person who says nothing else. */
    Duration lease() {
        return Backends.lease(address(ports()));
    }

    /** SIGSTOP, to as many servers as it takes to make the store silent. */
    abstract void pause();

    /** SIGCONT. */
    abstract void resume();

    /** Takes the lock from its holder without telling anybody, as an operator with the store's own tool would. */
    abstract void forget(String key);

    /** What claims have left in the store, by the store's own words. */
    abstract List<String> claims();

    /** Breaks only the connections that pushes come over, where those are others; else all of this waiter's. */
    void breakPushes(Way waiter) {
        waiter.reset();
    }

    /** Lets connections die without a word, as many as a client has to survive at once: all but of a quorum. */
    void forget(Way client) {
        client.forget();
    }

    /** Lets only the connections die that pushes come over, where those are others; else all of this waiter's. */
    void forgetPushes(Way waiter) {
        forget(waiter);
    }

    /** Whether it could tell each that waits for a lock of its turn, where it passes over those that it cannot. */
    boolean canTellAll(String key) {
        return true;
    }

    /**
     * Tells whether it has carried out a claim, though its answer may have been lost. To be asked for before the claim,
     * while the lock is free.
     */
    BooleanSupplier acts(String key, Lab lab) {
        return () -> !lab.isFree(key);
    }

    /** Whether a release that passes the lock on needs no answer on its way. */
    boolean releasesInOneMessage() {
        return true;
    }

    /** Whether a transaction is open that lasts as long as its client, however long others wait for that. */
    boolean keepsATransaction() {
        return false;
    }

    LockBackend backend() {
        return backends.connect(address(ports()));
    }

    LockBackend backend(Way way) {
        return backends.connect(address(way.ports()));
    }

    /** One on whose part too a hold lasts so long. */
    LockBackend backend(Duration lease) {
        return backend();
    }

    /** One on whose part too a hold lasts so long without the store. */
    LockBackend backend(Way way, Duration lease) {
        return backend(way);
    }

    /** How long the store may go on believing in a client that is gone. */
    Duration expiry() {
        return lease();
    }

    /**
     * The lease of a hold that is to last while the store is broken for a moment, and the machine busy: a database
     * starts within it.
     */
    Duration longLease() {
        return Lab.LEASE.multipliedBy(5);
    }

    /** For how long a lock may be free while somebody waits whose connection was broken. */
    Duration idleLimit() {
        return Duration.ofSeconds(2);
    }

    @Override
    public void close() {
        backends.close();
    }
}
