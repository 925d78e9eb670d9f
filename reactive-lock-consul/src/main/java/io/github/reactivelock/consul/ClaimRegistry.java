package io.github.reactivelock.consul;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.queue.Content;
import io.github.reactivelock.spi.queue.Entered;
import io.github.reactivelock.spi.queue.Expiries;
import io.github.reactivelock.spi.queue.Followers;
import io.github.reactivelock.spi.queue.KeptClaims;
import io.github.reactivelock.spi.queue.PlaceQueue;
import io.github.reactivelock.spi.queue.QueuePosition;
import io.github.reactivelock.spi.support.FireAndForget;
import io.github.reactivelock.spi.support.UnansweredReleases;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The claims of this client: entered into their queues, followed until they are first, and ended. */
final class ClaimRegistry {

    private static final int AT_ONCE = 8;

    private final Agents agents;
    private final ClaimKeys keys;
    private final KeyLayout names;
    private final ConsulBackendOptions options;
    private final Session session;
    private final Supplier<String> client;
    private final ClaimGate gate;
    private final Removals removals;
    private final Expiries<Entry, Entry> expiries;
    private final Followers<Entry, Entry> followers;
    final KeptClaims<Entry, Entry> kept;
    private final Map<String, ClaimState> states = new ConcurrentHashMap<>();
    private final UnansweredReleases leaving = new UnansweredReleases();

    ClaimRegistry(
            Agents agents,
            ClaimKeys keys,
            Watches watches,
            KeyLayout names,
            Session session,
            ConsulBackendOptions options,
            Supplier<String> client,
            SignalSink pushes) {
        this.agents = agents;
        this.keys = keys;
        this.names = names;
        this.options = options;
        this.session = session;
        this.client = client;
        this.gate = new ClaimGate(keys, () -> names.gate(client.get()));
        this.removals = new Removals(agents, keys, names, gate);
        StoredEntries entries = new StoredEntries(keys, watches, names, session, removals, states);
        this.kept = new KeptClaims<>(entries, states);
        this.expiries = new Expiries<>(entries, pushes::push);
        this.followers = new Followers<>(entries, expiries, pushes::push);
        session.onEnd(this::ended);
    }

    @Nullable
    ClaimState state(String claimId) {
        return states.get(claimId);
    }

    /** The lease of a hold starts anew. */
    void keep(ClaimState state, Entry key) {
        expiries.begin(state, key);
    }

    /** A key that is no claim's any more. */
    void remove(Entry key) {
        expiries.remove(key);
    }

    boolean holdsBack(Claim claim) {
        return agents.isCrowded() && states.containsKey(claim.id());
    }

    Mono<ClaimResult> claim(Claim claim) {
        return Mono.defer(() -> {
            if (claim.lease().compareTo(options.shortestLease()) < 0) {
                return Mono.error(ConsulFailure.shortLease(
                        claim.key(), claim.lease(), options.shortestLease(), options.sessionTtl()));
            }
            ClaimState state = states.computeIfAbsent(claim.id(), id -> new ClaimState(claim));
            state.claimed();
            state.asked();
            Entry key = state.entry();
            return key == null
                    ? enter(state, true)
                    : look(state, key).doOnError(error -> expiries.beginWait(state, key));
        });
    }

    private Mono<ClaimResult> enter(ClaimState state, boolean mayRepeat) {
        Claim claim = state.claim();
        if (claim.mode() == Claim.Mode.QUEUE || state.isDoubted()) {
            return make(state, mayRepeat);
        }
        // A try looks first, so that it writes nothing at a busy lock.
        return keys.queue(claim.key())
                .flatMap(queue -> queue.admitsTry(claim.share())
                        ? make(state, mayRepeat)
                        : release(claim).thenReturn(new ClaimResult.Busy()));
    }

    private Mono<ClaimResult> make(ClaimState state, boolean mayRepeat) {
        Mono<Entered<Entry, Entry>> entering = state.enter(() -> making(state));
        if (entering == null) {
            return Mono.error(state.ended());
        }
        return entering.flatMap(entered -> placed(state, entered.own(), entered.queue(), mayRepeat));
    }

    /** Cached, so that an answer has its effect however late it comes. */
    private Mono<Entered<Entry, Entry>> making(ClaimState state) {
        Claim claim = state.claim();
        return Mono.defer(() -> made(state, true))
                .doOnError(error -> {
                    state.failed();
                    if (states.get(claim.id()) != state) {
                        removals.later(claim);
                        removals.sweep(claim);
                    }
                })
                .flatMap(made -> {
                    if (made.repeated()) {
                        state.doubt();
                    }
                    return state.seen(made.own())
                            ? Mono.just(new Entered<>(made.own(), made.queue()))
                            : removals.remove(claim).then(Mono.error(() -> state.ended()));
                })
                .cache();
    }

    /** A key of this claim that a session before has, or a stranger wrote to, makes way for one that is new. */
    private Mono<ClaimKeys.Made> made(ClaimState state, boolean mayRepeat) {
        Claim claim = state.claim();
        Content content = Content.of(client.get(), claim);
        return session.id().flatMap(id -> {
            Mono<ClaimKeys.Made> same = gate.through(id, check -> keys.enter(claim, id, content, check));
            Mono<ClaimKeys.Made> anew = anew(state, id, content, same);
            Mono<ClaimKeys.Made> first = state.hasGivenUp()
                    ? anew
                    : same.onErrorResume(error -> ConsulFailure.is(error, ConsulFailure.Kind.REFUSED), error -> anew)
                            .flatMap(entered -> entered.own().isAsMade() ? Mono.just(entered) : anew);
            return first.onErrorResume(error -> ConsulFailure.is(error, ConsulFailure.Kind.SESSION_ENDED), error -> {
                session.ended(id);
                return mayRepeat ? made(state, false) : Mono.error(error);
            });
        });
    }

    /** Carried out late, it would put the claim at the end of the queue once more. */
    private Mono<ClaimKeys.Made> anew(ClaimState state, String id, Content content, Mono<ClaimKeys.Made> same) {
        Mono<Void> before = Mono.defer(() -> state.isDoubted() ? gate.shut() : Mono.empty());
        return before.then(gate.through(id, check -> keys.enterAnew(state.claim(), id, content, check)))
                .flatMap(entered -> entered.repeated() ? gate.shut().then(same) : Mono.just(entered));
    }

    /** Asked again: where does the claim stand now? */
    private Mono<ClaimResult> look(ClaimState state, Entry key) {
        return keys.queue(state.claim().key()).flatMap(queue -> placed(state, key, queue, true));
    }

    private Mono<ClaimResult> placed(ClaimState state, Entry key, PlaceQueue<Entry> present, boolean mayRepeat) {
        QueuePosition<Entry> position = present.position(state.claim().id());
        if (!position.isOf(key)) {
            state.vanished(key, LossReason.EXPIRED);
            state.claimed();
            return mayRepeat ? enter(state, false) : Mono.error(state.ended());
        }
        if (position.isIn()) {
            return granted(state, key, mayRepeat);
        }
        Optional<Entry> calledBack = present.calledBackFrom(position);
        if (state.claim().mode() == Claim.Mode.TRY && calledBack.isEmpty()) {
            return release(state.claim()).thenReturn(new ClaimResult.Busy());
        }
        calledBack.ifPresent(owner -> FireAndForget.run("calling a lock back", recall(owner)));
        followers.follow(state, key, position);
        expiries.beginWait(state, key);
        return Mono.just(new ClaimResult.Queued(state.claim().lease(), position.behind(), key.newestTokenBefore()));
    }

    /** The lease counts from when this was asked, and the session lasts longer than that. */
    private Mono<ClaimResult> granted(ClaimState state, Entry key, boolean mayRepeat) {
        return session.freshened(key.session()).flatMap(alive -> {
            if (!alive) {
                state.vanished(key, LossReason.SESSION_LOST);
                state.claimed();
                return mayRepeat ? enter(state, false) : Mono.error(state.ended());
            }
            Duration longest = session.reliable();
            if (!followers.own(state, key)) {
                return Mono.error(state.ended());
            }
            Duration asked = state.claim().lease();
            return Mono.just(new ClaimResult.Granted(key.token(), asked.compareTo(longest) < 0 ? asked : longest));
        });
    }

    private Mono<Void> recall(Entry owner) {
        return keys.notice(names.notice(owner.content().client()), owner.session(), SignalSink.recall(owner.claimId()));
    }

    Mono<Void> recall(String key) {
        return followers.recallable(key).flatMap(this::recall);
    }

    /** There was notice of a forced release, or of several things of which the last took the place of the others. */
    Flux<Signal> noticed() {
        return Flux.concat(forced(), followers.calledBack(states.values(), AT_ONCE));
    }

    /** The keys of all holds show it. */
    private Flux<Signal> forced() {
        return Flux.defer(() -> {
            List<ClaimState> owners =
                    states.values().stream().filter(ClaimState::isOwner).toList();
            return owners.isEmpty() ? Flux.empty() : Renewal.forced(owners, keys);
        });
    }

    private void ended(String sessionId) {
        for (ClaimState state : states.values()) {
            Entry key = state.entry();
            if (key != null && key.session().equals(sessionId)) {
                expiries.sessionEnded(state, key);
            }
        }
    }

    Mono<Boolean> release(Claim claim) {
        return Mono.defer(() -> {
            ClaimState state = states.remove(claim.id());
            if (state == null) {
                return kept.has(claim) ? kept.release(claim) : leaving.again(claim, removals.remove(claim));
            }
            return release(claim, state).doFinally(signal -> state.over());
        });
    }

    private Mono<Boolean> release(Claim claim, ClaimState state) {
        boolean owner = state.leave();
        Mono<Entered<Entry, Entry>> entering = state.entering();
        Entry key = state.entry();
        if (state.isDoubted()) {
            removals.sweep(claim);
        }
        if (entering != null) {
            return entering.then().onErrorComplete().then(removals.remove(claim));
        }
        if (key == null) {
            return state.isDoubted() || state.hasGivenUp() ? removals.remove(claim) : Mono.just(false);
        }
        return owner ? releaseHold(claim, key) : removals.remove(key).thenReturn(false);
    }

    private Mono<Boolean> releaseHold(Claim claim, Entry key) {
        return removals.finishing(claim, keys.delete(key))
                .flatMap(deleted -> deleted.done() ? Mono.just(true) : notAsItWas(claim, key, deleted))
                .doOnError(error -> leaving.add(claim))
                .doOnCancel(() -> leaving.add(claim));
    }

    /** One that a stranger wrote to still has the session, and would keep the lock for none. */
    private Mono<Boolean> notAsItWas(Claim claim, Entry key, ClaimKeys.Deleted deleted) {
        Mono<Boolean> told = deleted.repeated()
                ? Mono.error(() -> ConsulFailure.unclear(agents.names(), "'" + claim.key() + "' was still held"))
                : Mono.just(false);
        return removals.remove(key).onErrorReturn(false).then(told);
    }
}
