package io.github.reactivelock.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.FencingTokens;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.support.FireAndForget;
import io.github.reactivelock.spi.support.UnansweredReleases;
import io.github.reactivelock.state.LossReason;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The claims of this client: entered into their queues, followed until they are first, kept and ended. */
final class ClaimRegistry {

    private final Etcd etcd;
    private final ClaimKeys keys;
    private final SignalSink pushes;
    private final Leases leases;
    private final Turns turns;
    private final Crowds crowds;
    final ForcedReleases forced;
    /** By the ids of their claims, until these end. */
    private final Map<String, ClaimState> states = new ConcurrentHashMap<>();

    private final UnansweredReleases leaving = new UnansweredReleases();
    /** By the {@linkplain KeyLayout#tail tails} of their names, until their keys are gone. */
    private final Map<String, ClaimState> byTail = new ConcurrentHashMap<>();

    private volatile boolean mayKeep;

    ClaimRegistry(Etcd etcd, ClaimKeys keys, SignalSink pushes) {
        this.etcd = etcd;
        this.keys = keys;
        this.pushes = pushes;
        this.turns = new Turns(keys, pushes, this);
        this.crowds = new Crowds(keys, pushes);
        this.forced = new ForcedReleases(keys, turns, states);
        this.leases = new Leases(etcd, keys::marker, this);
    }

    // ---- claim

    /** Which of its commands waits for its turn is not known; one that has left is soon answered where others are. */
    boolean holdsBack(Claim claim) {
        return etcd.isCrowded() && states.containsKey(claim.id());
    }

    Mono<ClaimResult> claim(Claim claim) {
        return Mono.defer(() -> {
            long askedAt = etcd.now();
            ClaimState state = states.computeIfAbsent(claim.id(), id -> arrive(claim));
            state.claimed();
            state.wanted();
            if (state.revision() != 0) {
                return look(state, askedAt);
            }
            return claim.mode() == Claim.Mode.TRY ? enterIfFree(state, askedAt) : enter(state, askedAt, true);
        });
    }

    private ClaimState arrive(Claim claim) {
        ClaimState state = keys.enter(claim);
        byTail.put(state.tail, state);
        if (claim.recallable()) {
            mayKeep = true;
        }
        return state;
    }

    private void depart(ClaimState state, boolean gone) {
        state.closeNews();
        crowds.leave(state);
        byTail.remove(state.tail, state);
        keys.freePlace(state, gone);
    }

    /** Looks first, so that to a busy lock nothing is written; the key is put only if nothing came since. */
    private Mono<ClaimResult> enterIfFree(ClaimState state, long askedAt) {
        return keys.isBusy(state).flatMap(busy -> {
            if (!busy) {
                return enter(state, askedAt, true);
            }
            // Its key may be there, if this was asked before.
            return release(state.claim).thenReturn(new ClaimResult.Busy());
        });
    }

    private Mono<ClaimResult> enter(ClaimState state, long askedAt, boolean mayRepeat) {
        // A key that was put before its answer was lost is bound to the lease of that time.
        Lease earlier = state.lease();
        Mono<Lease> chosen = earlier == null || earlier.hasEnded() ? leases.of(state) : Mono.just(earlier);
        return chosen.flatMap(offered -> {
            Lease lease = state.bind(offered);
            Mono<ClaimResult> entered =
                    lease == null ? answeredMeanwhile(state, askedAt) : put(state, lease, askedAt, mayRepeat);
            // Asked twice at once, it was offered two.
            return state.lease() == offered
                    ? entered
                    : leases.drop(state.claim, offered).then(entered);
        });
    }

    private Mono<ClaimResult> answeredMeanwhile(ClaimState state, long askedAt) {
        return Mono.defer(() -> state.isQueued() ? look(state, askedAt) : Mono.error(state.tooLate()));
    }

    private Mono<ClaimResult> put(ClaimState state, Lease lease, long askedAt, boolean mayRepeat) {
        // Cached, so that what has to follow the put is done even if the lease turns out to be gone.
        Mono<ClaimKeys.Put> put = keys.put(state, lease)
                .flatMap(done -> !done.isThere() || state.seen(done.revision())
                        ? Mono.just(done)
                        : deleteLate(state, done.revision()).then(Mono.error(() -> state.tooLate())))
                .cache();
        return Mono.zip(put.flatMap(done -> position(state, done)), lease.cover(state, askedAt))
                .flatMap(both -> placed(state, both.getT1(), askedAt, mayRepeat))
                .onErrorResume(error -> lease.endsWith(error) && mayRepeat, error -> enter(state, askedAt, false));
    }

    private Mono<QueuePosition> position(ClaimState state, ClaimKeys.Put put) {
        return put.position().doOnNext(position -> {
            if (put.isThere() && position.revision() != put.revision()) {
                vanished(state, put.revision());
            }
        });
    }

    /**
     * A key is there, and its claim has ended. If the claim knew of it, it is the release that deletes it, and that
     * could not tell that it ended a hold if it found none.
     */
    private Mono<Void> deleteLate(ClaimState state, long revision) {
        return state.revision() == revision ? Mono.empty() : keys.delete(state.name, revision);
    }

    /** Asked again: where does the claim stand now? */
    private Mono<ClaimResult> look(ClaimState state, long askedAt) {
        long revision = state.revision();
        Lease lease = state.lease();
        if (revision == 0 || lease == null) {
            return enter(state, askedAt, true);
        }
        return Mono.zip(keys.look(state, revision), lease.cover(state, askedAt))
                .flatMap(both -> {
                    if (both.getT1().revision() != revision) {
                        vanished(state, revision);
                    }
                    return placed(state, both.getT1(), askedAt, true);
                })
                .onErrorResume(lease::endsWith, error -> {
                    vanished(state, revision);
                    return enter(state, askedAt, false);
                });
    }

    private void vanished(ClaimState state, long revision) {
        state.vanished(revision);
        state.claimed();
        turns.tellSuccessor(state);
    }

    private Mono<ClaimResult> placed(ClaimState state, QueuePosition position, long askedAt, boolean mayRepeat) {
        if (position.equals(QueuePosition.NO_ROOM)) {
            return release(state.claim).thenReturn(new ClaimResult.Busy());
        }
        if (position.revision() == 0) {
            return mayRepeat ? enter(state, askedAt, false) : Mono.error(state.tooLate());
        }
        turns.callBack(position);
        if (position.predecessor() == null) {
            crowds.leave(state);
            return state.own(position.revision())
                    ? Mono.just(new ClaimResult.Granted(token(position.revision()), state.claim.lease()))
                    : Mono.error(state.tooLate());
        }
        if (state.claim.mode() == Claim.Mode.TRY && position.recallable() == null) {
            return release(state.claim).thenReturn(new ClaimResult.Busy());
        }
        ClaimState own = null;
        if (state.isWhole()) {
            turns.follow(state, position.revision(), position.predecessor());
            own = own(position.predecessor());
        } else {
            crowds.join(state, position.revision(), position.predecessor());
        }
        // A key of this claim that is gone was made at an earlier revision, and one put later is made at a later one.
        return Mono.just(new ClaimResult.Queued(
                state.claim.lease(), own == null ? null : own.claim.id(), token(position.revision() - 1)));
    }

    /**
     * The claim of this client for the whole of a lock that a key was put for: one that tells the next when it leaves.
     */
    @Nullable
    ClaimState own(KeyValue key) {
        ClaimState own = byTail.get(KeyLayout.tail(key.getKey()));
        return own != null && own.isWhole() && own.revision() == key.getCreateRevision() ? own : null;
    }

    // ---- keep

    Mono<RenewalResult> renew(List<Claim> held) {
        return Renewal.of(held, states, etcd::now);
    }

    /** A claim's key is gone though its lease is not. */
    void vanished(ClaimState state) {
        turns.tellSuccessor(state);
        pushes.push(state.isLost() ? new Signal.Suspect(state.claim.id(), LossReason.EXPIRED) : Turns.recheck(state));
    }

    /** Its client has not asked about a claim for a lease of its own: as if its lease had ended, which others share. */
    void forsaken(ClaimState state) {
        boolean owned = state.isOwner();
        FireAndForget.run("ending a claim that is not asked about any more", release(state.claim));
        if (owned) {
            pushes.push(new Signal.Suspect(state.claim.id(), LossReason.EXPIRED));
        }
    }

    /** Calls the owner of a lock back for one that makes no claim. */
    Mono<Void> recall(String key) {
        return keys.recallable(key).flatMap(turns::callBack);
    }

    /** A claim of this client is called back, whose put may not have been answered yet. */
    Mono<Signal> recalled(String which) {
        ClaimState state = byTail.get(which.substring(which.indexOf(' ') + 1));
        return state != null && (state.revision() == 0 || which.startsWith(state.revision() + " "))
                ? Mono.just(new Signal.Recall(state.claim.id()))
                : Mono.empty();
    }

    /** Whether recalls that are not heard matter: a claim of this client could be called back. */
    boolean mayKeep() {
        return mayKeep;
    }

    /** A key of this client that is no claim was deleted. */
    void deleted(ByteSequence name, long revision) {
        leases.deleted(name, revision);
    }

    /** A key was put too late, for a claim that has ended. */
    Mono<Void> stray(ByteSequence name, long lease) {
        return keys.deleteStray(name, lease, byTail::containsKey);
    }

    /** The lease is gone, and all its keys with it. */
    void ended(Lease lease) {
        leases.forget(lease);
        // By name, because a hold that is not renewed is not asked about otherwise.
        lease.claims().stream()
                .filter(ClaimState::isOwner)
                .forEach(owner -> pushes.push(new Signal.Suspect(owner.claim.id(), LossReason.SESSION_LOST)));
        if (!lease.claims().isEmpty()) {
            pushes.push(new Signal.Reconnected());
        }
    }

    // ---- end

    Mono<Boolean> release(Claim claim) {
        return Mono.defer(() -> {
            ClaimState state = states.remove(claim.id());
            if (state == null) {
                return leaving.again(claim, keys.delete(claim));
            }
            boolean owner = state.leave();
            Runnable unanswered = owner ? () -> leaving.add(claim) : () -> {};
            boolean settled = state.isSettled();
            if (state.lease() == null) {
                // Its key was never put, and now never will be.
                depart(state, settled);
                return Mono.just(false);
            }
            return keys.delete(state, owner)
                    .doOnNext(deleted -> {
                        depart(state, settled);
                        turns.tellSuccessor(state, deleted);
                    })
                    .doOnError(error -> {
                        depart(state, false);
                        unanswered.run();
                        turns.tellSuccessor(state);
                    })
                    .doOnCancel(() -> {
                        depart(state, false);
                        unanswered.run();
                    })
                    .flatMap(deleted -> leases.drop(claim, state.lease()).thenReturn(deleted.wasFirst()));
        });
    }

    /** From then on the key is like that of another client: the claim behind it watches it. */
    Mono<Boolean> keep(Claim held, Claim kept) {
        return Mono.defer(() -> {
            ClaimState state = states.get(held.id());
            if (state == null || !state.isOwner()) {
                return keys.isIn(kept);
            }
            return leases.outlasting(kept.lease())
                    .flatMap(lease -> keys.leaveTo(state, kept, lease))
                    .flatMap(owned -> {
                        if (!owned || !states.remove(held.id(), state)) {
                            return Mono.just(owned);
                        }
                        state.leave();
                        depart(state, false);
                        turns.tellSuccessor(state);
                        return leases.drop(held, state.lease()).thenReturn(true);
                    });
        });
    }

    private void abandon(ClaimState state) {
        if (states.remove(state.claim.id(), state)) {
            state.leave();
            depart(state, state.isSettled() && state.lease() == null);
        }
    }

    Mono<Void> close() {
        return Mono.defer(() -> {
            states.values().forEach(this::abandon);
            return leases.revokeAll();
        });
    }

    static long token(long createRevision) {
        return FencingTokens.of(createRevision);
    }
}
