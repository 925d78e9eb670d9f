package io.github.reactivelock.etcd;

import io.etcd.jetcd.Client;
import io.etcd.jetcd.ClientBuilder;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.LockPage;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.support.FirstAnswer;
import io.github.reactivelock.spi.support.LateId;
import io.github.reactivelock.spi.support.SilenceClock;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.Share;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import javax.net.ssl.SSLException;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Locks in etcd 3.4 or later, over jetcd.
 *
 * <ol>
 *   <li><b>Names.</b> A claim is one key, {@code PREFIX/KEY/PLACE}, where KEY is the user's key percent-encoded. Its
 *       value names the client, the claim and the owner. It is bound to a lease and put once, never changed. A place is
 *       used again by the same client once etcd has confirmed that its key is gone: every name that was ever in a range
 *       makes reading the range slower until etcd's history is compacted.
 *   <li><b>Order.</b> The claims of a lock are queued by the create revision of their keys. The first one owns the
 *       lock. Its create revision is the fencing token.
 *   <li><b>Claim.</b> One transaction: put the key if it is absent, and read the last two keys up to it. Alone, it owns
 *       the lock; otherwise it waits for the other one, its predecessor. {@code tryAcquire} looks before it puts, so
 *       that it writes nothing if the lock is held, and puts only if no claim came since. Where this backend has more
 *       than a few claims on the lock, the key is put without reading, and one look at the queue serves all of them.
 *   <li><b>Waiting.</b> A watch on the predecessor's key, with require-leader, and a look whether the key is there
 *       still once the watch has begun. When it is deleted, the last two keys are read again: the claim owns the lock,
 *       or has a new predecessor, or has lost its own key with its lease and goes to the end of the queue. A watch that
 *       breaks is not resumed but begun anew from a fresh read. A predecessor of this same backend is not watched: the
 *       transaction that deletes its key reads the next one's.
 *   <li><b>Shares.</b> A claim for less than the whole has its share at the end of its name ({@code KeyLayout}), and
 *       reads the names of all claims before it. It is in if each of them, and then itself, fits its capacity with
 *       those before. Otherwise it waits: for the last before it that wants the whole, or, if there is none, for any
 *       deletion; those of one backend together, with one watch and one read. A claim for the whole waits for the one
 *       before it, whether that is for a share or for the whole.
 *   <li><b>Leases.</b> All claims of this backend that ask for the same lease and are renewed share one lease at etcd,
 *       which is at least half a second longer, in whole seconds, and kept alive by one question for all of them. A
 *       claim whose hold is not renewed has a lease of its own. A claim is answered only when its lease is sure to last
 *       for as long as it asked from the moment of asking.
 *   <li><b>Loss.</b> An answer that a lease is gone ends every claim on it, and so does the deletion of its marker, a
 *       key {@code PREFIX/!CLIENT!LEASE} bound to it that its client watches: a lease that is revoked is noticed at
 *       once. A few times in its life the keys bound to a lease are listed: a claim whose key was deleted is lost, and
 *       a key whose claim ended before its put arrived is deleted. A forced release puts a notice under
 *       {@code PREFIX/!CLIENT}, which the owner's backend watches.
 *   <li><b>Recall.</b> The name of a claim that can be called back ends with a mark. A claim that finds itself directly
 *       behind such an owner names it under {@code PREFIX/!CLIENT!recall}, bound to the owner's lease, which the
 *       owner's backend watches. So does a {@code tryAcquire}, which then waits, if none stands before it.
 *   <li><b>Release.</b> The key is deleted if its value still is the one that was put, which holds the claim's id. The
 *       next in the queue sees it go; no other client is woken.
 * </ol>
 *
 * <p>Guarantees. <b>Mutual exclusion</b> holds through crashes, partitions and changes of leader, because etcd loses no
 * confirmed write. <b>Fencing tokens</b> rise strictly, also over restarts. <b>Order</b> is that of arrival. Leases
 * count by the <b>clock of etcd's leader</b>, which is monotonic; a change of leader prolongs them, never the holder's
 * deadline. A client that dies frees its locks when its lease ends: up to a second and a half after the time asked for,
 * and not sooner than etcd's minimum, which is one and a half times its election timeout.
 *
 * <p>Nothing is opened before the first use. Safe for use from any thread.
 */
public final class EtcdLockBackend implements LockBackend {

    /** Less than the engine waits for a first connection, so that the error says why there is none. */
    private static final Duration OPENING = Duration.ofSeconds(8);

    private static final Duration REVOKING = Duration.ofMillis(700);

    private final Etcd etcd;
    private final KeyLayout names;
    private final ClaimRegistry queue;
    private final Observer observer;
    private final SignalSink pushes;
    private final FirstAnswer firstAnswer = FirstAnswer.within(
            OPENING, () -> inspect(READY_KEY), error -> error instanceof EtcdFailure failure && failure.isSilence());
    private final Compaction compaction;

    EtcdLockBackend(ClientSource source, EtcdBackendOptions options) {
        LateId session = new LateId();
        this.names = new KeyLayout(options.prefix());
        this.etcd = new Etcd(source, options);
        this.pushes = new SignalSink(etcd, () -> names.notice(session.get()));
        this.queue = new ClaimRegistry(etcd, new ClaimKeys(etcd, names, session::get), pushes);
        this.observer = new Observer(etcd, names);
        this.compaction = new Compaction(etcd, names, Compaction.MANY);
    }

    /**
     * A backend with a client of its own, closed with it.
     *
     * @param endpoints members of one etcd cluster, each {@code http://host:port}, or {@code https://host:port} for TLS
     *     with a certificate that this JVM trusts
     * @return a backend that has not connected yet
     */
    public static EtcdLockBackend connect(String... endpoints) {
        return connect(List.of(endpoints), EtcdBackendOptions.defaults());
    }

    /**
     * A backend with a client of its own, closed with it.
     *
     * @param endpoints as in {@link #connect(String...)}
     * @param options how locks are laid out
     * @return a backend that has not connected yet
     */
    public static EtcdLockBackend connect(List<String> endpoints, EtcdBackendOptions options) {
        ClientBuilder builder = Client.builder().endpoints(checked(endpoints));
        if (endpoints.get(0).startsWith("https:")) {
            try {
                builder.sslContext(trusting -> {});
            } catch (SSLException e) {
                throw new IllegalStateException("this JVM cannot do TLS: " + e.getMessage(), e);
            }
        }
        return connect(builder, options);
    }

    /**
     * A backend with a client of its own, closed with it, for user and password, other certificates, a namespace and
     * all other settings of jetcd's builder. How commands are repeated and given up, and how dead connections are
     * found, is set here in a copy.
     *
     * @param builder a builder with endpoints, which is left as it is
     * @param options how locks are laid out
     * @return a backend that has not connected yet
     */
    public static EtcdLockBackend connect(ClientBuilder builder, EtcdBackendOptions options) {
        return new EtcdLockBackend(ClientSource.of(builder, options), options);
    }

    /**
     * A backend over a client of the application, which is never closed here. How long its commands wait for a
     * connection, and how it logs in, is up to that client. A {@code tryAcquire} that comes a moment too late stands
     * in the queue until it is deleted.
     *
     * @param client the application's client
     * @return a backend that has sent nothing yet
     */
    public static EtcdLockBackend using(Client client) {
        return using(client, EtcdBackendOptions.defaults());
    }

    /**
     * A backend over a client of the application, as {@link #using(Client)}.
     *
     * @param client the application's client
     * @param options how locks are laid out
     * @return a backend that has sent nothing yet
     */
    public static EtcdLockBackend using(Client client, EtcdBackendOptions options) {
        return new EtcdLockBackend(ClientSource.of(client), options);
    }

    private static URI[] checked(List<String> endpoints) {
        if (endpoints.isEmpty()) {
            throw new IllegalArgumentException("no etcd endpoint given; one looks like http://localhost:2379");
        }
        URI[] parsed = new URI[endpoints.size()];
        for (int i = 0; i < parsed.length; i++) {
            if (!endpoints.get(i).matches("https?://[^/@]+/?")) {
                throw new IllegalArgumentException("an etcd endpoint looks like http://localhost:2379, without user and"
                        + " password, which belong into the ClientBuilder; the one given does not");
            }
            parsed[i] = URI.create(endpoints.get(i));
        }
        return parsed;
    }

    /**
     * A guard for writes to the same etcd, over the client of this backend and for as long as that is open.
     *
     * @return a guard that needs no closing
     */
    public EtcdFencingGuard fencingGuard() {
        return new EtcdFencingGuard(etcd, names);
    }

    @Override
    public boolean isReady() {
        return firstAnswer.came();
    }

    @Override
    public Mono<Void> ready() {
        return firstAnswer.await();
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
        return queue.recall(key);
    }

    @Override
    public Mono<ClaimResult> claim(Claim claim) {
        return queue.claim(claim);
    }

    @Override
    public boolean holdsBack(Claim claim) {
        return queue.holdsBack(claim);
    }

    @Override
    public Mono<RenewalResult> renew(List<Claim> held) {
        return queue.renew(held);
    }

    @Override
    public Mono<Boolean> release(Claim claim) {
        return queue.release(claim);
    }

    @Override
    public Mono<Boolean> keep(Claim held, Claim kept) {
        return queue.keep(held, kept);
    }

    @Override
    public Flux<Signal> signals() {
        return pushes.signals(queue).doOnNext(signal -> {
            if (signal instanceof Signal.Reconnected) {
                compaction.lookOnce();
            }
        });
    }

    @Override
    public Mono<LockInfo> inspect(String key) {
        return observer.inspect(key);
    }

    /** By a transaction that never puts the key it names, but needs a majority, space and the permission to put. */
    @Override
    public Mono<Void> probe(String key) {
        return observer.probe(key);
    }

    /**
     * In the order of names, five hundred claims at a time. A part ends with the last claim, so a lock may be in two.
     */
    @Override
    public Mono<LockPage> list(String prefix, String from) {
        return observer.list(prefix, from);
    }

    @Override
    public Flux<LockEvent> events(String key) {
        return observer.events(key);
    }

    @Override
    public Mono<Boolean> forceRelease(String key, long fencingToken) {
        return observer.forceRelease(key, fencingToken);
    }

    /** Revokes the leases of this backend, which deletes what is left of its claims, and closes its own client. */
    @Override
    public Mono<Void> close() {
        return SilenceClock.ofThisProcess()
                .timeout(queue.close(), REVOKING, Mono.empty())
                .onErrorComplete()
                .then(Mono.fromRunnable(() -> pushes.close(Etcd.closedError())))
                .then(etcd.close());
    }

    @Override
    public String toString() {
        return "etcd at " + etcd.server() + ", prefix " + names.prefix();
    }
}
