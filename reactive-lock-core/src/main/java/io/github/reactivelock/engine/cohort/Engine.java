package io.github.reactivelock.engine.cohort;

import io.github.reactivelock.LockClientClosedException;
import io.github.reactivelock.LockContext;
import io.github.reactivelock.LockException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.engine.Settings;
import io.github.reactivelock.engine.claim.ClaimOptions;
import io.github.reactivelock.engine.claim.PendingRelease;
import io.github.reactivelock.engine.claim.Phase;
import io.github.reactivelock.engine.flow.Waiter;
import io.github.reactivelock.engine.hold.ContextHolds;
import io.github.reactivelock.engine.hold.Hold;
import io.github.reactivelock.engine.hold.OwnerHolds;
import io.github.reactivelock.engine.store.Claims;
import io.github.reactivelock.engine.store.Services;
import io.github.reactivelock.engine.time.Timing;
import io.github.reactivelock.engine.user.WorkThreads;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.support.LateId;
import io.github.reactivelock.spi.support.RandomId;
import io.github.reactivelock.spi.support.Snapshots;
import io.github.reactivelock.state.Share;
import io.github.reactivelock.text.HostName;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.util.context.ContextView;

/**
 * What a client has once: the table of cohorts, the subscription to the store's signals, and the way out. Safe for use
 * from any thread; the state of a single lock is in its {@link Cohort}.
 */
public final class Engine implements Waiter.Locks, Claims, PendingRelease.Owner, Snapshots.Participant {

    private static final Logger log = LoggerFactory.getLogger(Engine.class);
    private static final Duration RELEASES_WHILE_CLOSING = Duration.ofSeconds(4);
    private static final Duration BACKEND_WHILE_CLOSING = Duration.ofSeconds(1);
    private static final int MOST_KEYS_TOLD = 3;
    private static final long RELAXATION = Duration.ofSeconds(1).toNanos();

    public final Services services;
    private final LateId name;

    private final Map<String, KeyContext> keyContexts = new ConcurrentHashMap<>();
    private final Map<String, Cohort> claims = new ConcurrentHashMap<>();
    final OwnerHolds owned = new OwnerHolds();
    final Retention retention;
    private final ConcurrentMap<String, PendingRelease> withdrawals = new ConcurrentHashMap<>();

    /** Drawn with the first claim, so that clients which go on from one snapshot of their process are two. */
    private final LateId idPrefix;

    private final AtomicLong ids = new AtomicLong();

    private final AtomicBoolean listening = new AtomicBoolean();
    private final SignalRouter signals;

    /** Looked at by ticks alone, which follow one another. */
    private long relaxedAt;

    /** The store was asked something, or is about to be. */
    private volatile boolean used;

    private volatile boolean closed;
    private volatile boolean over;
    final Sinks.Empty<Void> closing = Sinks.empty();
    private final Sinks.Empty<Void> quiet = Sinks.empty();
    final Sinks.Empty<Void> end = Sinks.empty();

    public Engine(Settings settings) {
        this.services = new Services(settings, this, this::tick);
        this.signals = new SignalRouter(services, settings.jitter(), this);
        this.retention = new Retention(settings.maxRetained(), services.userCallbacks);
        String name = settings.name();
        String idPrefix = settings.idPrefix();
        this.name = new LateId(name == null ? HostName::ofThisProcess : () -> name);
        this.idPrefix = idPrefix == null ? new LateId(() -> RandomId.next() + ".") : new LateId(() -> idPrefix);
        WorkThreads.SHARED.clientOpened();
        Snapshots.join(this);
    }

    // ---- flows

    @Override
    public Services services() {
        return services;
    }

    /** Puts a flow into the cohort it belongs to. */
    @Override
    public void enqueue(Waiter waiter) {
        LockException refused = refusalOf(waiter.key, "acquired");
        if (refused != null) {
            waiter.fail(refused);
            return;
        }
        if (listening.compareAndSet(false, true)) {
            signals.listen();
        }
        long now = services.timing.now();
        if (waiter.isTooLate(now)) {
            waiter.failTooLate();
        } else {
            waiter.start(CohortChoice.of(this, join(waiter.key), waiter), now);
        }
    }

    private KeyContext join(String key) {
        KeyContext joined = keyContexts.computeIfPresent(key, (k, present) -> present.joined());
        return joined != null
                ? joined
                : keyContexts.merge(key, new KeyContext(this, key).joined(), (present, fresh) -> present.joined());
    }

    /** Keeps a context in the table, though its flows depart, until one departure more. */
    void stay(KeyContext kept) {
        keyContexts.computeIfPresent(kept.key, (key, present) -> present == kept ? kept.joined() : present);
    }

    /** A flow, or its hold, is done with its key; the last one takes it out of the table, so it is there until then. */
    void depart(KeyContext left) {
        keyContexts.computeIfPresent(left.key, (key, present) -> --present.members == 0 ? null : present);
    }

    @Override
    public @Nullable Hold reentrant(ContextView context, String key, Share asked) {
        Hold inherited = ContextHolds.find(context, services, key);
        return inherited == null ? owned.find(context, key, asked) : inherited;
    }

    // ---- claims

    /** What a flow asks of the store. */
    Claim claimOf(Waiter waiter) {
        LockOptions options = waiter.options;
        Optional<String> own = options.owner().isPresent() ? options.owner() : LockContext.owner(waiter.context());
        String owner = own.isPresent() ? own.get() : name.get();
        Claim.Keeping keeping = ClaimOptions.keeping(options);
        if (options.retention().isPresent() && retention.mayKeepNext(waiter.key)) {
            keeping = Claim.Keeping.RECALLABLE;
        }
        return ClaimOptions.claim(options, waiter.key, newClaimId(), owner, waiter.mode(), keeping);
    }

    /** Unique, and unguessable without having seen another: 128 random bits of this client and a count. */
    @Override
    public String newClaimId() {
        return idPrefix.get() + ids.getAndIncrement();
    }

    /** Makes a claim known to signals and to the tick; false once the client is closed. */
    boolean register(Claim claim, Cohort cohort) {
        claims.put(claim.id(), cohort);
        if (closed) {
            forget(claim);
            return false;
        }
        services.timing.serve(cohort.lease);
        return true;
    }

    /** Which cohort a claim of this client belongs to, until it is given back. */
    @Nullable
    Cohort cohortOf(String claimId) {
        return claims.get(claimId);
    }

    @Override
    public boolean isLeft(Claim claim) {
        return cohortOf(claim.id()) == null;
    }

    @Override
    public @Nullable Throwable refusal() {
        return signals.refusal();
    }

    @Override
    public void forget(Claim claim) {
        claims.remove(claim.id());
        checkQuiet();
    }

    @Override
    public void withdraw(Claim claim) {
        withdraw(claim, Timing.NEVER, null);
    }

    /** Ends a claim at the store, unless that is closed; {@code outcome} hears how the first try went. */
    void withdraw(Claim claim, long keptUntil, PendingRelease.@Nullable Outcome outcome) {
        PendingRelease begun = new PendingRelease(this, claim, keptUntil, outcome);
        PendingRelease current = withdrawals.merge(
                claim.id(), begun, (pending, fresh) -> fresh.isAwaited() || !pending.again() ? fresh : pending);
        claims.remove(claim.id()); // only now, or a close in between would find nothing left to do
        if (current == begun) {
            begun.ask();
        }
    }

    /** As {@link #withdraw}, but it is asked for later: until then the store keeps the claim for its lease at most. */
    PendingRelease prepareWithdrawal(Claim claim, long keptUntil) {
        PendingRelease prepared = new PendingRelease(this, claim, keptUntil, null);
        withdrawals.put(claim.id(), prepared);
        claims.remove(claim.id());
        return prepared;
    }

    @Override
    public void ended(PendingRelease withdrawal) {
        withdrawals.remove(withdrawal.claim.id(), withdrawal);
        checkQuiet();
    }

    private void tick() {
        long now = services.timing.now();
        for (Cohort cohort : claims.values()) {
            if (cohort.isDue(now)) {
                cohort.tick();
            }
        }
        if (now - relaxedAt >= RELAXATION) {
            relaxedAt = now;
            services.timing.relax(this::shortestLease);
        }
        withdrawals.values().forEach(withdrawal -> withdrawal.tick(now));
        services.gate.window.tick(services.timing.silentNow());
        services.renewals.send();
        if (!retention.isEmpty() && !mayKeep()) {
            retention.giveBackAll();
        }
    }

    private long shortestLease() {
        long shortest = Long.MAX_VALUE;
        for (Cohort cohort : claims.values()) {
            shortest = Math.min(shortest, cohort.lease);
        }
        return shortest;
    }

    // ---- signals

    /**
     * Does nothing if the claim is not one of this client's. It may go to another cohort of its key before this event.
     * Safe for use from any thread.
     */
    void tell(String claimId, Consumer<Phase> news) {
        Cohort known = cohortOf(claimId);
        if (known != null) {
            known.post(() -> {
                Cohort keeper = cohortOf(claimId);
                news.accept((keeper == null ? known : keeper).phase);
            });
        }
    }

    /**
     * Whether a recall would be heard, and something could come of it. A store that cannot be reached may come back
     * with nothing.
     */
    boolean mayKeep() {
        LockBackend store = services.backend;
        return signals.areOn() && store.isReady() && store.hearsRecalls() && !closed;
    }

    /** All that have to do with a key. */
    void tellThoseOf(String key, Consumer<Phase> news) {
        claims.forEach((id, cohort) -> {
            if (cohort.keyContext.key.equals(key)) {
                tell(id, news);
            }
        });
    }

    void tellAll(Consumer<Phase> news) {
        claims.keySet().forEach(id -> tell(id, news));
    }

    // ---- snapshots of the process

    /** Why nothing may be asked of the store now; if it may, this client counts as used before that is looked at. */
    @Nullable
    LockException refusalOf(String key, String action) {
        if (closed) {
            return new LockClientClosedException(key);
        }
        if (!used) {
            used = true;
        }
        return Snapshots.isBeingTaken()
                ? new LockUnavailableException(
                        key,
                        action,
                        new IllegalStateException("a snapshot of this process is being taken; try again after it"))
                : null;
    }

    /**
     * A client that was used is known to its store: by ids, connections, sessions. One that was not has none of them
     * yet.
     */
    @Override
    public String obstacle() {
        if (!used || over) {
            return "";
        }
        Set<String> keys = new TreeSet<>(keyContexts.keySet());
        withdrawals.values().forEach(withdrawal -> keys.add(withdrawal.claim.key()));
        String told = keys.stream().limit(MOST_KEYS_TOLD).collect(Collectors.joining("', '", "'", "'"))
                + (keys.size() > MOST_KEYS_TOLD ? " and " + (keys.size() - MOST_KEYS_TOLD) + " more" : "");
        return "a lock client of " + services.backend + " was used"
                + (keys.isEmpty() ? "" : ", and " + told + (keys.size() == 1 ? " is" : " are") + " held or waited for")
                + "; close it before the snapshot and make another one after it";
    }

    // ---- the end

    boolean isClosed() {
        return closed;
    }

    @Override
    public boolean isOver() {
        return over;
    }

    /** Nothing is held, waited for or being given up. */
    public boolean isIdle() {
        return claims.isEmpty() && keyContexts.isEmpty() && owned.isEmpty() && withdrawals.isEmpty();
    }

    public Mono<Void> close() {
        return Mono.defer(() -> {
            closed = true;
            if (closing.tryEmitEmpty() == Sinks.EmitResult.OK) {
                beginClose();
            }
            return end.asMono().publishOn(services.userCallbacks.work());
        });
    }

    private void beginClose() {
        retention.giveBackAll();
        claims.values().forEach(Cohort::close);
        checkQuiet();
        services.timing
                .answeredIn(RELEASES_WHILE_CLOSING, quiet.asMono(), services.gate::silence)
                .onErrorResume(e -> {
                    log.warn("{} releases were not confirmed while closing; their leases run out", withdrawals.size());
                    return Mono.empty();
                })
                .then(Mono.defer(() -> {
                    signals.dispose();
                    return services.timing.answeredIn(
                            BACKEND_WHILE_CLOSING, services.backend.close(), services.gate::silence);
                }))
                .onErrorResume(e -> {
                    log.warn("the lock store {} did not close cleanly", services.backend, e);
                    return Mono.empty();
                })
                .doFinally(signal -> services.others.execute(this::ended))
                .subscribe(nothing -> {}, e -> log.error("closing a lock client failed", e));
    }

    private void ended() {
        over = true;
        withdrawals.values().forEach(PendingRelease::abandon);
        services.timing.dispose();
        end.tryEmitEmpty();
        WorkThreads.SHARED.clientClosed();
    }

    private void checkQuiet() {
        if (closed && claims.isEmpty() && withdrawals.isEmpty()) {
            quiet.tryEmitEmpty();
        }
    }
}
