package io.github.reactivelock.consul;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.FireAndForget;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The claims of this client: entered into their lines, followed until they are first, and ended. */
final class ClaimRegistry {

    private final Agents agents;
    private final Keys keys;
    private final ConsulBackendOptions options;
    private final Session session;
    private final Supplier<String> client;
    private final SignalSink pushes;
    private final Gate gate;
    private final Removals removals;
    private final Expiries expiries;
    private final Followers followers;
    final KeptClaims kept;
    private final Map<String, ClaimState> standings = new ConcurrentHashMap<>();
    /** Claims of holds whose release got no answer, until that is confirmed or their lease is over. */
    private final Set<String> leaving = ConcurrentHashMap.newKeySet();

    ClaimRegistry(
            Agents agents,
            Keys keys,
            Watches watches,
            KeyLayout names,
            Session session,
            ConsulBackendOptions options,
            Supplier<String> client,
            SignalSink pushes) {
        this.agents = agents;
        this.keys = keys;
        this.options = options;
        this.session = session;
        this.client = client;
        this.pushes = pushes;
        this.gate = new Gate(keys, () -> names.gate(client.get()));
        this.removals = new Removals(agents, keys, names, gate);
        this.kept = new KeptClaims(keys, removals, standings);
        this.expiries = new Expiries(removals, pushes);
        this.followers = new Followers(keys, watches, names, pushes, session, expiries, standings);
        session.onEnd(this::ended);
    }

    @Nullable
    ClaimState standing(String claimId) {
        return standings.get(claimId);
    }

    /** The lease of a hold starts anew. */
    void keep(ClaimState standing, Entry key) {
        expiries.begin(standing, key);
    }

    /** A key that is no claim's any more. */
    void remove(Entry key) {
        expiries.remove(key);
    }

    boolean holdsBack(Claim claim) {
        return agents.isCrowded() && standings.containsKey(claim.id());
    }

    Mono<ClaimResult> claim(Claim claim) {
        return Mono.defer(() -> {
            if (claim.lease().compareTo(options.shortestLease()) < 0) {
                return Mono.error(ConsulFailure.shortLease(
                        claim.key(), claim.lease(), options.shortestLease(), options.sessionTtl()));
            }
            ClaimState standing = standings.computeIfAbsent(claim.id(), id -> new ClaimState(claim));
            standing.claimed();
            standing.asked();
            Entry key = standing.key();
            return key == null
                    ? enter(standing, true)
                    : look(standing, key).doOnError(error -> expiries.beginWait(standing, key));
        });
    }

    private Mono<ClaimResult> enter(ClaimState standing, boolean mayRepeat) {
        Claim claim = standing.claim;
        if (claim.mode() == Claim.Mode.QUEUE || standing.isDoubted()) {
            return make(standing, mayRepeat);
        }
        // A try looks first, so that it writes nothing at a busy lock.
        return keys.line(claim.key())
                .flatMap(line -> line.admits(claim.share())
                        ? make(standing, mayRepeat)
                        : release(claim).thenReturn(new ClaimResult.Busy()));
    }

    private Mono<ClaimResult> make(ClaimState standing, boolean mayRepeat) {
        Mono<Keys.Entered> entering = standing.enter(() -> making(standing));
        if (entering == null) {
            return Mono.error(standing.ended());
        }
        return entering.flatMap(entered -> placed(standing, entered.own(), entered.line(), mayRepeat));
    }

    /** Cached, so that an answer has its effect however late it comes. */
    private Mono<Keys.Entered> making(ClaimState standing) {
        Claim claim = standing.claim;
        return Mono.defer(() -> made(standing, true))
                .doOnError(error -> {
                    standing.failed();
                    if (standings.get(claim.id()) != standing) {
                        removals.later(claim);
                        removals.sweep(claim);
                    }
                })
                .flatMap(entered -> {
                    if (entered.repeated()) {
                        standing.doubt();
                    }
                    return standing.seen(entered.own())
                            ? Mono.just(entered)
                            : removals.remove(claim).then(Mono.error(() -> standing.ended()));
                })
                .cache();
    }

    /** A key of this claim that a session before has, or a stranger wrote to, makes way for one that is new. */
    private Mono<Keys.Entered> made(ClaimState standing, boolean mayRepeat) {
        Claim claim = standing.claim;
        Content content = Content.of(client.get(), claim);
        return session.id().flatMap(id -> {
            Mono<Keys.Entered> same = gate.through(id, check -> keys.enter(claim, id, content, check));
            Mono<Keys.Entered> anew = anew(standing, id, content, same);
            Mono<Keys.Entered> first = standing.hasGivenUp()
                    ? anew
                    : same.onErrorResume(error -> ConsulFailure.is(error, ConsulFailure.Kind.REFUSED), error -> anew)
                            .flatMap(entered -> entered.own().isAsMade() ? Mono.just(entered) : anew);
            return first.onErrorResume(error -> ConsulFailure.is(error, ConsulFailure.Kind.SESSION_ENDED), error -> {
                session.ended(id);
                return mayRepeat ? made(standing, false) : Mono.error(error);
            });
        });
    }

    /** Carried out late, it would put the claim at the end of the line once more. */
    private Mono<Keys.Entered> anew(ClaimState standing, String id, Content content, Mono<Keys.Entered> same) {
        Mono<Void> before = Mono.defer(() -> standing.isDoubted() ? gate.shut() : Mono.empty());
        return before.then(gate.through(id, check -> keys.enterAnew(standing.claim, id, content, check)))
                .flatMap(entered -> entered.repeated() ? gate.shut().then(same) : Mono.just(entered));
    }

    /** Asked again: where does the claim stand now? */
    private Mono<ClaimResult> look(ClaimState standing, Entry key) {
        return keys.line(standing.claim.key()).flatMap(line -> placed(standing, key, line, true));
    }

    private Mono<ClaimResult> placed(ClaimState standing, Entry key, Line present, boolean mayRepeat) {
        QueuePosition position = QueuePosition.of(standing.claim.id(), present);
        if (!position.isOf(key)) {
            standing.vanished(key, LossReason.EXPIRED);
            standing.claimed();
            return mayRepeat ? enter(standing, false) : Mono.error(standing.ended());
        }
        if (position.isIn()) {
            return granted(standing, key, mayRepeat);
        }
        if (standing.claim.mode() == Claim.Mode.TRY) {
            return release(standing.claim).thenReturn(new ClaimResult.Busy());
        }
        followers.follow(standing, key, position);
        expiries.beginWait(standing, key);
        return Mono.just(new ClaimResult.Queued(standing.claim.lease(), position.behind(), key.newestTokenBefore()));
    }

    /** What is told of the lease is counted from when this was asked, and the session lasts longer than that. */
    private Mono<ClaimResult> granted(ClaimState standing, Entry key, boolean mayRepeat) {
        return session.freshened(key.session()).flatMap(alive -> {
            if (!alive) {
                standing.vanished(key, LossReason.SESSION_LOST);
                standing.claimed();
                return mayRepeat ? enter(standing, false) : Mono.error(standing.ended());
            }
            Duration longest = session.reliable();
            if (!followers.own(standing, key)) {
                return Mono.error(standing.ended());
            }
            Duration asked = standing.claim.lease();
            return Mono.just(new ClaimResult.Granted(key.token(), asked.compareTo(longest) < 0 ? asked : longest));
        });
    }

    /**
     * There was notice of a forced release, and perhaps of others before it whose place it took. The keys of all holds
     * show which.
     */
    Flux<Signal> forced() {
        return Flux.defer(() -> {
            List<ClaimState> owners =
                    standings.values().stream().filter(ClaimState::isOwner).toList();
            return owners.isEmpty() ? Flux.empty() : Renewal.forced(owners, keys);
        });
    }

    private void ended(String sessionId) {
        for (ClaimState standing : standings.values()) {
            Entry key = standing.key();
            if (key != null && key.session().equals(sessionId) && standing.vanished(key, LossReason.SESSION_LOST)) {
                pushes.push(
                        standing.loss() == null
                                ? new Signal.Recheck(standing.claim.key())
                                : new Signal.Suspect(standing.claim.id(), LossReason.SESSION_LOST));
            }
        }
    }

    Mono<Boolean> release(Claim claim) {
        return Mono.defer(() -> {
            ClaimState standing = standings.remove(claim.id());
            if (standing == null) {
                return kept.has(claim) ? kept.release(claim) : removeAgain(claim);
            }
            return release(claim, standing).doFinally(signal -> standing.over());
        });
    }

    private Mono<Boolean> release(Claim claim, ClaimState standing) {
        boolean owner = standing.leave();
        Mono<Keys.Entered> entering = standing.entering();
        Entry key = standing.key();
        if (standing.isDoubted()) {
            removals.sweep(claim);
        }
        if (entering != null) {
            return entering.then().onErrorComplete().then(removals.remove(claim));
        }
        if (key == null) {
            return standing.isDoubted() || standing.hasGivenUp() ? removals.remove(claim) : Mono.just(false);
        }
        return owner ? releaseHold(claim, key) : removals.remove(key).thenReturn(false);
    }

    private Mono<Boolean> releaseHold(Claim claim, Entry key) {
        return removals.finishing(claim, keys.delete(key))
                .flatMap(deleted -> deleted.done() ? Mono.just(true) : notAsItWas(claim, key, deleted))
                .doOnError(error -> remember(claim))
                .doOnCancel(() -> remember(claim));
    }

    /** One that a stranger wrote to still has the session, and would keep the lock for none. */
    private Mono<Boolean> notAsItWas(Claim claim, Entry key, Keys.Deleted deleted) {
        Mono<Boolean> told = deleted.repeated()
                ? Mono.error(() -> ConsulFailure.unclear(agents.names(), "'" + claim.key() + "' was still held"))
                : Mono.just(false);
        return removals.remove(key).onErrorReturn(false).then(told);
    }

    /** The first deletion may have been carried out, so this one finds none; the hold was in force when it was sent. */
    private Mono<Boolean> removeAgain(Claim claim) {
        return removals.remove(claim).map(owned -> leaving.remove(claim.id()) || owned);
    }

    private void remember(Claim claim) {
        leaving.add(claim.id());
        FireAndForget.run(
                "forgetting a release that got no answer",
                Mono.delay(claim.lease(), DriverThreads.timer()).doOnNext(now -> leaving.remove(claim.id())));
    }
}
