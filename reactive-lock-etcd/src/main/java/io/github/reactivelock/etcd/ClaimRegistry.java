package io.github.reactivelock.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.FencingTokens;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.FireAndForget;
import io.github.reactivelock.state.LossReason;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** The claims of this client: entered into their lines, followed until they are first, kept and ended. */
final class ClaimRegistry implements Lease.Findings {

    private final Etcd etcd;
    private final ClaimKeys keys;
    private final SignalSink pushes;
    private final Leases leases;
    private final Turns turns;
    private final Crowds crowds;
    final ForcedReleases forced;
    /** By the ids of their claims, until these end. */
    private final Map<String, ClaimState> standings = new ConcurrentHashMap<>();
    /** Claims of holds whose release got no answer, until that is confirmed or their lease is over. */
    private final Set<String> leaving = ConcurrentHashMap.newKeySet();
    /** By the {@linkplain KeyLayout#tail tails} of their names, until their keys are gone. */
    private final Map<String, ClaimState> byTail = new ConcurrentHashMap<>();

    ClaimRegistry(Etcd etcd, ClaimKeys keys, SignalSink pushes) {
        this.etcd = etcd;
        this.keys = keys;
        this.pushes = pushes;
        this.turns = new Turns(keys, pushes, this::own);
        this.crowds = new Crowds(keys, pushes);
        this.forced = new ForcedReleases(keys, turns, standings);
        this.leases = new Leases(etcd, keys::marker, this);
    }

    // ---- claim

    Mono<ClaimResult> claim(Claim claim) {
        return Mono.defer(() -> {
            long askedAt = etcd.now();
            ClaimState standing = standings.computeIfAbsent(claim.id(), id -> arrive(claim));
            standing.claimed();
            standing.wanted();
            if (standing.revision() != 0) {
                return look(standing, askedAt);
            }
            return claim.mode() == Claim.Mode.TRY ? enterIfFree(standing, askedAt) : enter(standing, askedAt, true);
        });
    }

    private ClaimState arrive(Claim claim) {
        ClaimState standing = keys.enter(claim);
        byTail.put(standing.tail, standing);
        return standing;
    }

    private void depart(ClaimState standing, boolean gone) {
        standing.end();
        crowds.leave(standing);
        byTail.remove(standing.tail, standing);
        keys.leave(standing, gone);
    }

    /** Looks first, so that to a busy lock nothing is written; the key is put only if nothing came since. */
    private Mono<ClaimResult> enterIfFree(ClaimState standing, long askedAt) {
        return keys.isBusy(standing).flatMap(busy -> {
            if (!busy) {
                return enter(standing, askedAt, true);
            }
            // Its key may be there, if this was asked before.
            return release(standing.claim).thenReturn(new ClaimResult.Busy());
        });
    }

    private Mono<ClaimResult> enter(ClaimState standing, long askedAt, boolean mayRepeat) {
        // A key that was put before its answer was lost is bound to the lease of that time.
        Lease earlier = standing.lease();
        Mono<Lease> chosen = earlier == null || earlier.hasEnded() ? leases.of(standing) : Mono.just(earlier);
        return chosen.flatMap(offered -> {
            Lease lease = standing.bind(offered);
            Mono<ClaimResult> entered =
                    lease == null ? answeredMeanwhile(standing, askedAt) : put(standing, lease, askedAt, mayRepeat);
            // Asked twice at once, it was offered two.
            return standing.lease() == offered
                    ? entered
                    : leases.drop(standing.claim, offered).then(entered);
        });
    }

    private Mono<ClaimResult> answeredMeanwhile(ClaimState standing, long askedAt) {
        return Mono.defer(() -> standing.isInLine() ? look(standing, askedAt) : Mono.error(standing.tooLate()));
    }

    private Mono<ClaimResult> put(ClaimState standing, Lease lease, long askedAt, boolean mayRepeat) {
        // Cached, so that what has to follow the put is done even if the lease turns out to be gone.
        Mono<QueuePosition> put = keys.put(standing, lease)
                .flatMap(line -> !line.isThere() || standing.seen(line.revision())
                        ? Mono.just(line)
                        : deleteLate(standing, line.revision()).then(Mono.error(() -> standing.tooLate())))
                .cache();
        return Mono.zip(put, lease.cover(standing, askedAt))
                .flatMap(both -> placed(standing, both.getT1(), askedAt, mayRepeat))
                .onErrorResume(error -> lease.endsWith(error) && mayRepeat, error -> enter(standing, askedAt, false));
    }

    /**
     * A key is there, and its claim has ended. If the claim knew of it, it is the release that deletes it, and that
     * could not tell that it ended a hold if it found none.
     */
    private Mono<Void> deleteLate(ClaimState standing, long revision) {
        return standing.revision() == revision ? Mono.empty() : keys.delete(standing.name, revision);
    }

    /** Asked again: where does the claim stand now? */
    private Mono<ClaimResult> look(ClaimState standing, long askedAt) {
        long revision = standing.revision();
        Lease lease = standing.lease();
        if (revision == 0 || lease == null) {
            return enter(standing, askedAt, true);
        }
        return Mono.zip(keys.look(standing, revision), lease.cover(standing, askedAt))
                .flatMap(both -> {
                    if (both.getT1().revision() != revision) {
                        vanished(standing, revision);
                    }
                    return placed(standing, both.getT1(), askedAt, true);
                })
                .onErrorResume(lease::endsWith, error -> {
                    vanished(standing, revision);
                    return enter(standing, askedAt, false);
                });
    }

    private void vanished(ClaimState standing, long revision) {
        standing.vanished(revision);
        standing.claimed();
        turns.tellSuccessor(standing);
    }

    private Mono<ClaimResult> placed(ClaimState standing, QueuePosition line, long askedAt, boolean mayRepeat) {
        if (line.equals(QueuePosition.NO_ROOM)) {
            return release(standing.claim).thenReturn(new ClaimResult.Busy());
        }
        if (line.revision() == 0) {
            return mayRepeat ? enter(standing, askedAt, false) : Mono.error(standing.tooLate());
        }
        if (line.predecessor() == null) {
            crowds.leave(standing);
            return standing.own(line.revision())
                    ? Mono.just(new ClaimResult.Granted(token(line.revision()), standing.claim.lease()))
                    : Mono.error(standing.tooLate());
        }
        if (standing.claim.mode() == Claim.Mode.TRY) {
            return release(standing.claim).thenReturn(new ClaimResult.Busy());
        }
        ClaimState own = null;
        if (standing.isWhole()) {
            turns.follow(standing, line.revision(), line.predecessor());
            own = own(line.predecessor());
        } else {
            crowds.join(standing, line.revision(), line.predecessor());
        }
        // A key of this claim that is gone was made at an earlier revision, and one put later is made at a later one.
        return Mono.just(new ClaimResult.Queued(
                standing.claim.lease(), own == null ? null : own.claim.id(), token(line.revision() - 1)));
    }

    /**
     * The claim of this client for the whole of a lock that a key was put for: one that tells the next when it leaves.
     */
    private @Nullable ClaimState own(KeyValue key) {
        ClaimState own = byTail.get(KeyLayout.tail(key.getKey()));
        return own != null && own.isWhole() && own.revision() == key.getCreateRevision() ? own : null;
    }

    // ---- keep

    Mono<RenewalResult> renew(List<Claim> held) {
        return Renewal.of(held, standings, etcd::now);
    }

    @Override
    public void vanished(ClaimState standing) {
        turns.tellSuccessor(standing);
        pushes.push(
                standing.isLost()
                        ? new Signal.Suspect(standing.claim.id(), LossReason.EXPIRED)
                        : Turns.recheck(standing));
    }

    /** As if its lease had ended, which others keep alive. */
    @Override
    public void forsaken(ClaimState standing) {
        boolean owned = standing.isOwner();
        Disposable unused =
                FireAndForget.run("ending a claim that is not asked about any more", release(standing.claim));
        if (owned) {
            pushes.push(new Signal.Suspect(standing.claim.id(), LossReason.EXPIRED));
        }
    }

    /** A key of this client that is no claim was deleted. */
    void deleted(ByteSequence name, long revision) {
        leases.deleted(name, revision);
    }

    @Override
    public Mono<Void> stray(ByteSequence name, long lease) {
        return keys.deleteStray(name, lease, byTail::containsKey);
    }

    @Override
    public void ended(Lease lease) {
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
            ClaimState standing = standings.remove(claim.id());
            if (standing == null) {
                return deleteAgain(claim);
            }
            boolean owner = standing.leave();
            Runnable unanswered = owner ? () -> remember(claim) : () -> {};
            boolean settled = standing.isSettled();
            if (standing.lease() == null) {
                // Its key was never put, and now never will be.
                depart(standing, settled);
                return Mono.just(false);
            }
            return keys.delete(standing, owner)
                    .doOnNext(deleted -> {
                        depart(standing, settled);
                        turns.tellSuccessor(standing, deleted);
                    })
                    .doOnError(error -> {
                        depart(standing, false);
                        unanswered.run();
                        turns.tellSuccessor(standing);
                    })
                    .doOnCancel(() -> {
                        depart(standing, false);
                        unanswered.run();
                    })
                    .flatMap(deleted -> leases.drop(claim, standing.lease()).thenReturn(deleted.wasFirst()));
        });
    }

    /** The first deletion may have been carried out, so this one finds none; the hold was in force when it was sent. */
    private Mono<Boolean> deleteAgain(Claim claim) {
        return keys.delete(claim).map(owned -> leaving.remove(claim.id()) || owned);
    }

    private void remember(Claim claim) {
        leaving.add(claim.id());
        Disposable unused = FireAndForget.run(
                "forgetting a release that got no answer",
                Mono.delay(claim.lease(), DriverThreads.timer()).doOnNext(now -> leaving.remove(claim.id())));
    }

    /** From then on the key is like that of another client: the claim behind it watches it. */
    Mono<Boolean> keep(Claim held, Claim kept) {
        return Mono.defer(() -> {
            ClaimState standing = standings.get(held.id());
            if (standing == null || !standing.isOwner()) {
                return keys.isIn(kept);
            }
            return leases.outlasting(kept.lease())
                    .flatMap(lease -> keys.leaveTo(standing, kept, lease))
                    .flatMap(owned -> {
                        if (!owned || !standings.remove(held.id(), standing)) {
                            return Mono.just(owned);
                        }
                        boolean unused = standing.leave();
                        depart(standing, false);
                        turns.tellSuccessor(standing);
                        return leases.drop(held, standing.lease()).thenReturn(true);
                    });
        });
    }

    private void abandon(ClaimState standing) {
        if (standings.remove(standing.claim.id(), standing)) {
            boolean unused = standing.leave();
            depart(standing, standing.isSettled() && standing.lease() == null);
        }
    }

    Mono<Void> close() {
        return Mono.defer(() -> {
            standings.values().forEach(this::abandon);
            return leases.revokeAll();
        });
    }

    static long token(long createRevision) {
        return FencingTokens.of(createRevision);
    }
}
