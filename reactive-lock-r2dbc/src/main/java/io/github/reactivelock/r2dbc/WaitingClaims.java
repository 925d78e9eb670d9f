package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.FencingTokens;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.FireAndForget;
import io.r2dbc.spi.Row;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * The claims of this backend that wait in a queue, and the keys for which claims lately did. Where no push tells that
 * one of them was served, all of them together are looked for by one statement, soon after something happened and then
 * less and less often. Safe for use from any thread.
 */
final class WaitingClaims {

    private static final long SHORTEST_PAUSE = 5;
    /** So the rows that a lock which moves makes a client read in a second are bounded, however many it waits for. */
    private static final int KEYS_A_MILLISECOND = 10;

    private static final long LONGEST_PAUSE = 1_000;
    private static final int MOST_KEYS = 500;
    private static final int MOST_CONTENDED = 1_000;
    /** Nanoseconds: holds may be too short for a ring to be heard under one of them. */
    private static final long TO_HEAR = Duration.ofSeconds(30).toNanos();

    private final Database database;
    private final SignalSink pushes;
    private final Map<String, String> keys = new ConcurrentHashMap<>();
    /** Those of them that want a share. */
    private final Set<String> shares = ConcurrentHashMap.newKeySet();
    /** Those with a question under way, which may be in the queue already and served by others. */
    private final Map<String, Claim> asking = new ConcurrentHashMap<>();
    /** Claims that the database was asked for, from the first question to the release. */
    private final Set<String> begun = ConcurrentHashMap.newKeySet();

    /** Those of them that can be called back. */
    private final Set<String> recallable = ConcurrentHashMap.newKeySet();

    private volatile long recallableAt = System.nanoTime() - TO_HEAR;

    /** Keys that another claim had or wanted when they were last asked about. */
    private final Set<String> contended = ConcurrentHashMap.newKeySet();

    private final AtomicBoolean looking = new AtomicBoolean();
    private final Sinks.Many<Boolean> newcomers = Sinks.many().multicast().directBestEffort();
    /** The token of each lock when it was last looked at; touched by one round at a time. */
    private final Map<String, Long> tokens = new ConcurrentHashMap<>();

    private volatile long pause = SHORTEST_PAUSE;

    WaitingClaims(Database database, SignalSink pushes) {
        this.database = database;
        this.pushes = pushes;
    }

    void begin(Claim claim) {
        boolean isNew = begun.add(claim.id());
        boolean wasTold = !isNew && !contains(claim); // and would be told of the same grant again
        if (claim.mode() == Claim.Mode.QUEUE && !wasTold) {
            asking.put(claim.id(), claim);
        }
        if (claim.recallable()) {
            recallable.add(claim.id());
            recallableAt = System.nanoTime();
            pushes.listen();
        }
    }

    /** Whether a recall is to be heard now, or from the next claim on, as one that is kept has to be. */
    boolean listensForRecalls() {
        return !recallable.isEmpty() || (!pushes.arrive() && System.nanoTime() - recallableAt < TO_HEAR);
    }

    boolean hasBegun(Claim claim) {
        return begun.contains(claim.id());
    }

    void forget(Claim claim) {
        begun.remove(claim.id());
        asking.remove(claim.id());
        recallable.remove(claim.id());
    }

    boolean isWaitedFor(String key) {
        return keys.containsValue(key);
    }

    /**
     * Whether the plain statement for a lock that is free, or that no other wants, would most likely be a round trip
     * for nothing.
     */
    boolean isContended(String key) {
        return contended.contains(key) || isWaitedFor(key);
    }

    /** To forget costs a round trip and nothing else, so all are forgotten when they are many. */
    void noteContended(String key) {
        if (contended.size() >= MOST_CONTENDED) {
            contended.clear();
        }
        contended.add(key);
    }

    void noteFree(String key) {
        contended.remove(key);
    }

    /** To be called with each answer to a claim. */
    void answered(Claim claim, ClaimResult result) {
        asking.remove(claim.id());
        if (result instanceof ClaimResult.Queued) {
            add(claim);
            noteContended(claim.key());
        } else {
            remove(claim.id());
        }
        if (result instanceof ClaimResult.Granted && claim.share().isWhole()) {
            noteFree(claim.key());
        } else if (result instanceof ClaimResult.Busy) {
            forget(claim);
        }
    }

    /** A claim that got its grant waits no more, so its release need not look for it in the queue. */
    void signalled(Signal signal) {
        if (signal instanceof Signal.Grant grant) {
            remove(grant.claimId());
        }
    }

    /** Whether it got a signal of a grant, whose lease is running while it asks. It goes before thousands that wait. */
    boolean wasTold(Claim claim) {
        return hasBegun(claim) && !contains(claim);
    }

    boolean contains(Claim claim) {
        return keys.containsKey(claim.id());
    }

    private void add(Claim claim) {
        if (!claim.share().isWhole()) {
            shares.add(claim.id());
        }
        boolean isNew = keys.put(claim.id(), claim.key()) == null;
        if (isNew) {
            lookSoon();
            pushes.listen();
        }
    }

    /** To be called when there is something to look for, or when what was to be heard has to be looked for now. */
    void lookSoon() {
        if (!pushes.arrive()) {
            pause = SHORTEST_PAUSE;
            newcomers.tryEmitNext(true);
            look();
        }
    }

    void remove(String claimId) {
        keys.remove(claimId);
        shares.remove(claimId);
        asking.remove(claimId);
    }

    /** What a listener listens for: nothing as long as none is known to wait. */
    List<Waiting> listenedFor() {
        if (keys.isEmpty()) {
            return List.of();
        }
        Map<String, String> all = new HashMap<>(keys);
        asking.values().forEach(claim -> all.put(claim.id(), claim.key()));
        return all.entrySet().stream()
                .map(each -> new Waiting(each.getKey(), each.getValue()))
                .toList();
    }

    boolean isEmpty() {
        return keys.isEmpty();
    }

    void clear() {
        asking.clear();
        keys.clear();
        shares.clear();
        recallable.clear();
    }

    private void look() {
        if (keys.isEmpty() || pushes.arrive() || !looking.compareAndSet(false, true)) {
            return;
        }
        try {
            FireAndForget.run(
                    "looking for grants",
                    Mono.defer(this::round)
                            .repeat(() -> !keys.isEmpty() && !pushes.arrive())
                            .then()
                            .doFinally(signal -> {
                                looking.set(false);
                                look();
                            }));
        } catch (Throwable e) { // a fatal one, which is not signalled: the next claim that waits tries again
            looking.set(false);
            throw e;
        }
    }

    private Mono<Void> round() {
        long last = pause;
        pause = Math.min(last * 2, LONGEST_PAUSE);
        long now = Math.max(last, shortest());
        long jitter = ThreadLocalRandom.current().nextLong(now / 4 + 1);
        Duration jittered = Duration.ofMillis(Math.min(now + jitter, LONGEST_PAUSE));
        Mono<?> soon = last == SHORTEST_PAUSE
                ? Mono.delay(jittered, DriverThreads.timer())
                : Mono.delay(jittered, DriverThreads.timer()).or(newcomer());
        return soon.then(Mono.defer(() -> Flux.fromIterable(List.copyOf(keys.values()))
                        .distinct()
                        .buffer(MOST_KEYS)
                        .concatMap(this::owners)
                        .doOnNext(this::found)
                        .thenMany(Flux.defer(() -> Flux.fromIterable(List.copyOf(shares))))
                        .buffer(MOST_KEYS)
                        .concatMap(this::sharesGranted)
                        .doOnNext(this::granted)
                        .then()))
                .then(Mono.<Void>fromRunnable(() -> tokens.keySet().retainAll(keys.values())))
                .onErrorComplete();
    }

    private Mono<Long> newcomer() {
        return newcomers
                .asFlux()
                .next()
                .flatMap(soon -> Mono.delay(Duration.ofMillis(shortest()), DriverThreads.timer()));
    }

    private long shortest() {
        return Math.max(SHORTEST_PAUSE, Math.min(MOST_KEYS, tokens.size()) / KEYS_A_MILLISECOND);
    }

    private Flux<Owner> owners(List<String> some) {
        List<byte[]> keys = some.stream().map(KeyLayout::bytes).toList();
        return database.run(session -> session.alone(session.all("owners", Owner::read, keys)))
                .flatMapIterable(owners -> owners);
    }

    private Flux<Owner> sharesGranted(List<String> some) {
        return database.run(session -> session.alone(session.all("shares_granted", Owner::read, some)))
                .flatMapIterable(granted -> granted);
    }

    private void found(Owner owner) {
        Long before = tokens.put(owner.key(), owner.token());
        if (before == null || before != owner.token()) {
            pause = SHORTEST_PAUSE;
        }
        granted(owner);
    }

    private void granted(Owner owner) {
        served(owner.claimId(), owner.token());
    }

    /** A claim was found to have been served; whether it waited for that. */
    boolean served(String claimId, long token) {
        shares.remove(claimId);
        boolean waited = keys.remove(claimId) != null;
        boolean asks = asking.remove(claimId) != null;
        if (waited || asks) {
            pushes.push(new Signal.Grant(claimId, FencingTokens.of(token)));
        }
        return waited;
    }

    /** Others left a note. */
    void noted(String note) {
        pushes.push(Recalls.noted(note));
    }

    /** A claim that waits, or may by now. */
    record Waiting(String claimId, String key) {}

    /** Who owns a lock at the moment. */
    record Owner(String key, String claimId, long token) {
        static Owner read(Row row) {
            return new Owner(
                    KeyLayout.key(KeyLayout.read(row)), LockRow.text(row, "claim_id"), LockRow.number(row, "token"));
        }
    }
}
