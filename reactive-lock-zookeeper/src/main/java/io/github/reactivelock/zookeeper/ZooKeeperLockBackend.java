package io.github.reactivelock.zookeeper;

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
import org.apache.curator.framework.CuratorFramework;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Locks in ZooKeeper 3.6 or later, over Curator.
 *
 * <ol>
 *   <li><b>Names.</b> A lock is a container node {@code /PREFIX/KEY}, where KEY is the user's key percent-encoded; the
 *       server removes it some time after its last claim. A claim is an ephemeral sequential node below it, called
 *       {@code CLAIM:NUMBER}, for a share {@code CLAIM:UNITS.CAPACITY:NUMBER}, and if it can be called back
 *       {@code CLAIM:!CLIENT:NUMBER}. It holds the client, the lease and the owner's name and is never changed;
 *       that of a hold which is over and could be called back is written again, as it is, if the lock stays taken.
 *   <li><b>Order.</b> The claims of a lock are queued by number. The first one owns the lock, and after it all that fit
 *       beside those before them, up to the first that does not. The czxid of its node is a holder's fencing token.
 *   <li><b>Claim.</b> One burst: make the node, and read the names of all there. If it fits, it owns the lock;
 *       otherwise it waits for the one just before it, its predecessor. A share waits for the last claim for the whole
 *       before it, or if there is none, for any change of the names. {@code tryAcquire} reads before it makes
 *       anything, so that it writes nothing if the lock is held, and makes its node in one transaction with a check
 *       that no claim came since. A creation whose answer was lost is looked for by the claim's id, after the leader
 *       has been asked, and taken for ours only if this very session made it.
 *   <li><b>Waiting.</b> The predecessor is read with a watch on it. When it goes, the names are read again: the claim
 *       owns the lock, or has a new predecessor, or has lost its own node and goes to the end of the queue. A release
 *       is one event for one client, however many wait.
 *   <li><b>Renewal.</b> One question to the leader and a look at each node, in one burst. It counts only if the nodes
 *       are there <i>and</i> the session that asked is the one that made them.
 *   <li><b>Loss.</b> A session that expired ends all holds at once. A forced release puts a notice into
 *       {@code /PREFIX/!CLIENT}, which the owner's backend watches. Any other loss is seen by the next renewal.
 *   <li><b>Recalls.</b> The claim just behind an owner that can be called back puts a notice there, too. A try that
 *       finds such an owner, and none that waits, makes its node in the same way and waits.
 *   <li><b>Release.</b> The node is deleted by its name, which holds the claim's id, so that it can only be the claim's
 *       own. A deletion that could not be sent is made up for when the connection is back.
 * </ol>
 *
 * <p><b>Leases and the session.</b> What ZooKeeper keeps alive is the session, not the claim. Therefore
 * <ul>
 *   <li>a hold is relied upon for the shorter of the claim's lease and half the session timeout, after the sending
 *       of the last question that was answered. A connection that is suspended for less costs nothing; after that the
 *       hold is lost here, before the servers can have given it to another. Only half, because a leader learns of
 *       heartbeats from the other servers now and then: one that is cut off together with its clients takes the newest
 *       ones with it. {@code ClaimResult.Granted} and {@code Signal.Grant} say the time;
 *   <li>a hold that is not renewed, as it was meant to be or was not, is deleted by this backend when its lease is
 *       over, and so is a claim that waits and is not asked about. A hold that is not meant to be renewed never lasts
 *       longer than half the session timeout: choose that to fit;
 *   <li>a client that dies, or is cut off, leaves its locks held until its session times out, also with a shorter
 *       lease, and up to a tick of the servers longer;
 *   <li>a waiting claim of a client that is alive keeps its place for as long as the session lives.
 *       {@code LockInfo.Held.remaining} is the whole lease asked for, because ZooKeeper does not tell how long a
 *       session has been silent.
 * </ul>
 *
 * <p>Guarantees. <b>Mutual exclusion</b> holds through crashes, partitions and changes of leader, because ZooKeeper
 * loses no confirmed write, for clients whose clocks run at the speed of the servers'. <b>Fencing tokens</b> rise
 * strictly, also over restarts; they overflow, with an error, after half a million leaders. <b>Order</b> is that of
 * arrival. No <b>clock</b> is compared with another.
 *
 * <p>Nothing is opened before the first use. Safe for use from any thread.
 */
public final class ZooKeeperLockBackend implements LockBackend {

    /** Less than the engine waits for a first connection, so that the error says why there is none. */
    private static final Duration OPENING = Duration.ofSeconds(8);

    private static final Duration REMOVING = Duration.ofMillis(700);

    private final Connection connection;
    private final Nodes nodes;
    private final KeyLayout names;
    private final ClaimRegistry queue;
    private final Watches watches;
    private final Observer observer;
    private final SignalSink pushes;
    /** Once; all who close it hear how it went. */
    private final Mono<Void> end = Mono.defer(this::disconnect).cache();

    private final FirstAnswer firstAnswer = FirstAnswer.within(
            OPENING,
            () -> inspect(READY_KEY),
            error -> error instanceof ZooKeeperFailure failure && failure.isSilence());

    ZooKeeperLockBackend(ClientSource source, ZooKeeperBackendOptions options) {
        LateId session = new LateId();
        this.names = new KeyLayout(options.prefix());
        this.connection = new Connection(source, options);
        this.nodes = new Nodes(connection, names);
        this.pushes = new SignalSink(connection, nodes, () -> names.notice(session.get()));
        this.watches = new Watches(connection);
        this.queue = new ClaimRegistry(connection, nodes, watches, names, session::get, pushes);
        this.observer = new Observer(connection, nodes, watches, names);
    }

    /**
     * A backend with a client of its own, closed with it.
     *
     * @param connectString servers of one ensemble, {@code host:port} with commas between, and optionally the path of
     *     an existing node below which everything is
     * @return a backend that has not connected yet
     */
    public static ZooKeeperLockBackend connect(String connectString) {
        return connect(connectString, ZooKeeperBackendOptions.defaults());
    }

    /**
     * A backend with a client of its own, closed with it.
     *
     * @param connectString as for {@link #connect(String)}
     * @param options how locks are laid out, the session timeout, and user and password
     * @return a backend that has not connected yet
     */
    public static ZooKeeperLockBackend connect(String connectString, ZooKeeperBackendOptions options) {
        return new ZooKeeperLockBackend(new ClientSource.Own(connectString, options), options);
    }

    /**
     * A backend over a client of the application, which must be started and is never closed here. Its session timeout,
     * users, access lists and namespace are those of that client. So is its retry policy: with one that repeats a
     * command at least once, as {@code ExponentialBackoffRetry} does, a question survives a reset of its connection.
     *
     * @param client the application's client
     * @return a backend that has sent nothing yet
     */
    public static ZooKeeperLockBackend using(CuratorFramework client) {
        return using(client, ZooKeeperBackendOptions.defaults());
    }

    /**
     * A backend over a client of the application, as {@link #using(CuratorFramework)}.
     *
     * @param client the application's client
     * @param options how locks are laid out; session timeout and user are those of the client
     * @return a backend that has sent nothing yet
     */
    public static ZooKeeperLockBackend using(CuratorFramework client, ZooKeeperBackendOptions options) {
        return new ZooKeeperLockBackend(new ClientSource.Users(client), options);
    }

    /**
     * A guard for writes to the same ZooKeeper, over the client of this backend and for as long as that is open.
     *
     * @return a guard that needs no closing
     */
    public ZooKeeperFencingGuard fencingGuard() {
        return new ZooKeeperFencingGuard(connection, nodes, names);
    }

    @Override
    public boolean supports(Share share) {
        return true;
    }

    @Override
    public boolean supportsRecall() {
        return true;
    }

    /** Not while the connection is being opened again. */
    @Override
    public boolean hearsRecalls() {
        return connection.isConnected();
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

    @Override
    public boolean holdsBack(Claim claim) {
        return queue.holdsBack(claim);
    }

    @Override
    public Mono<RenewalResult> renew(List<Claim> held) {
        return Renewal.of(held, queue, nodes);
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

    /** By a transaction that would make a node and never does, which needs a majority and the permission to create. */
    @Override
    public Mono<Void> probe(String key) {
        return observer.probe(key);
    }

    /**
     * ZooKeeper tells the names of all locks in one answer or not at all: how many there may be is up to
     * {@code jute.maxbuffer}, 64 MB of names for a client made here. Locks themselves are read
     * five hundred at a time.
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

    /**
     * Deletes what is left of this backend's nodes, by ending its session if that is its own. Over a client of the
     * application, what cannot be deleted within a moment is deleted later, when that client is connected again.
     */
    @Override
    public Mono<Void> close() {
        return Mono.defer(() -> {
            FireAndForget.run("closing a ZooKeeper lock backend", end);
            return connection.isOurs()
                    ? end
                    : SilenceClock.ofThisProcess().timeout(end, REMOVING, Mono.fromRunnable(this::endSignals));
        });
    }

    private Mono<Void> disconnect() {
        Mono<Void> removed = connection.isOurs()
                ? Mono.empty()
                : queue.close().then(pushes.removeNotice(queue.removals)).onErrorComplete();
        return removed.then(Mono.fromRunnable(this::endSignals))
                .then(watches.close())
                .then(connection.isOurs() ? Mono.empty() : queue.removals.untilDone())
                .then(Mono.defer(connection::close));
    }

    private void endSignals() {
        pushes.close(ZooKeeperFailure.closed());
    }

    @Override
    public String toString() {
        return "ZooKeeper at " + connection.servers() + ", prefix " + names.prefix();
    }
}
