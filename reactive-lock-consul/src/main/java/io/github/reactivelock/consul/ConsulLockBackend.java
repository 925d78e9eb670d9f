package io.github.reactivelock.consul;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.LockPage;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.support.FireAndForget;
import io.github.reactivelock.spi.support.FirstAnswer;
import io.github.reactivelock.spi.support.LateId;
import io.github.reactivelock.spi.support.SilenceClock;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.http.client.HttpClient;

/**
 * Locks in Consul 1.8 or later, over its HTTP interface.
 *
 * <ol>
 *   <li><b>Names.</b> A claim is a key {@code PREFIX/KEY/CLAIM} that the session of its client has acquired, where KEY
 *       is the user's key, escaped. It holds the client, the lease and the owner's name, its flags the share, or that
 *       it can be called back, and it is written once, or once more without that if the lock stays taken after such
 *       a hold. The session has the behaviour {@code delete}: its end removes
 *       them all. It belongs to the node {@code reactive-lock} of the catalog, which is no agent's, so that no agent's
 *       end ends it.
 *   <li><b>Order.</b> The claims of a lock are queued by the index at which they were made. The first one owns the
 *       lock, and after it all that fit beside those before them, up to the first that does not. That index, the
 *       {@code ModifyIndex} of the acquiring write, is a holder's fencing token.
 *   <li><b>Claim.</b> One transaction acquires the key and reads the queue. If the claim fits, it owns the lock;
 *       otherwise it waits for the one just before it, its predecessor. A share waits for the last claim for the whole
 *       before it, or if there is none, for any change of the queue. {@code tryAcquire} reads first, so that it writes
 *       nothing if the lock is held. Said again, the transaction changes nothing.
 *   <li><b>Waiting.</b> The predecessor is asked for by a blocking query. When it goes, the queue is read again: the
 *       claim owns the lock, or has a new predecessor, or has lost its own key and goes to the end of the queue. A
 *       release wakes one client, however many wait.
 *   <li><b>Renewal.</b> The session is renewed, and then one transaction that only reads compares the index of each
 *       key.
 *   <li><b>Loss.</b> A session that has ended ends all holds at once. A forced release puts a notice into
 *       {@code PREFIX/!CLIENT}, which the owner's backend watches. Any other loss is seen by the next renewal.
 *   <li><b>Recalls.</b> The claim just behind an owner that can be called back puts a notice there, too. A try that
 *       finds such an owner, and none that waits, makes its key and waits.
 *   <li><b>Release.</b> One transaction deletes the key if its index is the one that is known.
 *   <li><b>Late questions.</b> The making of a key names the index of {@code PREFIX/!CLIENT!gate}. Where it may still
 *       be on its way after its claim has ended, that key is written anew, which refuses it, before the claim's key is
 *       looked for once more.
 * </ol>
 *
 * <p><b>Leases and the session.</b> What Consul keeps alive is the session, not the claim. Therefore
 * <ul>
 *   <li>a hold is relied upon for the shorter of the claim's lease and the session's TTL, after the sending of the last
 *       renewal that was answered. Consul ends a session between one and two times its TTL after its last renewal,
 *       and later if its leader changes meanwhile, never before;
 *   <li>a hold that is not renewed, as it was meant to be or was not, is deleted by this backend when its lease is
 *       over, and so is a claim that waits and is not asked about. A hold that is not meant to be renewed never lasts
 *       longer than the TTL: choose that to fit;
 *   <li>a client that dies, or is cut off, leaves its locks held for up to two TTLs, whatever their lease. So a lease
 *       below the shortest TTL of 10 seconds is refused: it would promise what Consul cannot do;
 *   <li>a waiting claim of a client that is alive keeps its place for as long as the session lives.
 *       {@code LockInfo.Held.remaining} is the whole lease asked for, because Consul does not tell how long a session
 *       has been silent.
 * </ul>
 *
 * <p>Guarantees. <b>Mutual exclusion</b> holds through crashes, partitions and changes of leader, because Consul loses
 * no confirmed write, for clients whose clocks run at the speed of the servers'. <b>Fencing tokens</b> rise strictly,
 * also over changes of leader and a restored snapshot. <b>Order</b> is that of arrival. No <b>clock</b> is compared
 * with another. A write or a deletion of a claim's key by others, without its session, overrides the lock.
 *
 * <p>Nothing is opened before the first use. Safe for use from any thread.
 */
public final class ConsulLockBackend implements LockBackend {

    /** Less than the engine waits for a first connection, so that the error says why there is none. */
    private static final Duration OPENING = Duration.ofSeconds(8);

    private static final Duration REMOVING = Duration.ofMillis(700);

    private final Agents agents;
    private final KeyLayout names;
    private final Session session;
    private final ClaimKeys keys;
    private final ClaimRegistry queue;
    private final Observer observer;
    private final SignalSink pushes;
    /** Once; all who close it hear how it went. */
    private final Mono<Void> end = Mono.defer(this::disconnect).cache();

    private final FirstAnswer firstAnswer = FirstAnswer.within(
            OPENING,
            () -> inspect(READY_KEY),
            error -> ConsulFailure.is(error, ConsulFailure.Kind.SILENT) && !Agents.isRefused(error.getCause()));

    private ConsulLockBackend(String agents, @Nullable HttpClient client, ConsulBackendOptions options) {
        LateId id = new LateId();
        this.agents = new Agents(agents, client, options);
        this.names = new KeyLayout(options.prefix());
        this.session = new Session(this.agents, options);
        this.keys = new ClaimKeys(this.agents, names);
        Watches watches = new Watches(this.agents, keys, names);
        this.pushes = new SignalSink(this.agents, keys, watches, session, () -> names.notice(id.get()));
        this.queue = new ClaimRegistry(this.agents, keys, watches, names, session, options, id::get, pushes);
        this.observer = new Observer(this.agents, keys, watches, names);
    }

    /**
     * A backend with connections of its own, closed with it.
     *
     * @param agents of one datacenter, with commas between: {@code host:port}, {@code http://host:port} or
     *     {@code https://host:port}; the next one is asked when one does not answer
     * @return a backend that has not connected yet
     */
    public static ConsulLockBackend connect(String agents) {
        return connect(agents, ConsulBackendOptions.defaults());
    }

    /**
     * A backend with connections of its own, closed with it.
     *
     * @param agents as for {@link #connect(String)}
     * @param options how locks are laid out, the session's TTL and checks, and the token
     * @return a backend that has not connected yet
     */
    public static ConsulLockBackend connect(String agents, ConsulBackendOptions options) {
        return new ConsulLockBackend(agents, null, options);
    }

    /**
     * A backend over an HTTP client of the application, which is never closed here: its connections, event loops,
     * certificates and proxies are those of that client. It needs a connection for each lock that is waited for, and
     * some for commands.
     *
     * @param client the application's client
     * @param agents as for {@link #connect(String)}
     * @param options how locks are laid out, the session's TTL and checks, and the token
     * @return a backend that has sent nothing yet
     */
    public static ConsulLockBackend using(HttpClient client, String agents, ConsulBackendOptions options) {
        return new ConsulLockBackend(agents, client, options);
    }

    /**
     * A guard for writes to the same Consul, over the connections of this backend and for as long as that is open.
     *
     * @return a guard that needs no closing
     */
    public ConsulFencingGuard fencingGuard() {
        return new ConsulFencingGuard(agents, keys);
    }

    @Override
    public boolean supports(Share share) {
        return true;
    }

    @Override
    public boolean supportsRecall() {
        return true;
    }

    /** Not from the end of its question for notices until it listens again: Consul may come back with nothing. */
    @Override
    public boolean hearsRecalls() {
        return pushes.hears();
    }

    @Override
    public Mono<Void> recall(String key) {
        return queue.recall(key);
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
    public Mono<ClaimResult> claim(Claim claim) {
        return queue.claim(claim);
    }

    /** Its question may wait for its turn, behind those that have left before it. */
    @Override
    public boolean holdsBack(Claim claim) {
        return queue.holdsBack(claim);
    }

    @Override
    public Mono<RenewalResult> renew(List<Claim> held) {
        return Renewal.of(held, queue, session, keys);
    }

    @Override
    public Mono<Boolean> release(Claim claim) {
        return queue.release(claim);
    }

    @Override
    public Mono<Boolean> keep(Claim held, Claim kept) {
        return queue.kept.keep(held, kept);
    }

    @Override
    public Flux<Signal> signals() {
        return pushes.signals(queue::noticed);
    }

    @Override
    public Mono<LockInfo> inspect(String key) {
        return observer.inspect(key);
    }

    /** By deleting a key that is never there, which needs a majority and the permission to write. */
    @Override
    public Mono<Void> probe(String key) {
        return observer.probe(key);
    }

    /** Consul tells the names of all locks with that prefix in one answer; the locks are read one by one. */
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

    /** Ends the session, which deletes what is left of this backend's keys, and closes its connections. */
    @Override
    public Mono<Void> close() {
        return Mono.defer(() -> {
            FireAndForget.run("closing a Consul lock backend", end);
            return end;
        });
    }

    private Mono<Void> disconnect() {
        Mono<Void> ended = SilenceClock.ofThisProcess().timeout(session.destroy(), REMOVING, Mono.empty());
        return ended.onErrorComplete()
                .then(Mono.fromRunnable(() -> pushes.close(ConsulFailure.closed())))
                .then(agents.close());
    }

    @Override
    public String toString() {
        return "Consul at " + agents.names() + ", prefix " + names.prefix();
    }
}
