package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import reactor.core.publisher.Mono;

/**
 * Claims of a whole lock by statements without a transaction around them: the shortest that most likely answers comes
 * first.
 */
final class QuickClaims {

    private static final int MOST_KNOWN = 10_000;
    private static final long UNKNOWN = Long.MIN_VALUE;

    private final SignalSink pushes;
    private final WaitingClaims waits;
    /** Locks that have a row, because this client had them. */
    private final Set<String> known = ConcurrentHashMap.newKeySet();
    /** By how many microseconds the database's clock is ahead of ours, less the way of the answer that showed it. */
    private volatile long ahead = UNKNOWN;

    QuickClaims(SignalSink pushes, WaitingClaims waits) {
        this.pushes = pushes;
        this.waits = waits;
    }

    /** To be called with each answer to a claim. To forget costs little, so all are forgotten when they are many. */
    void note(Claim claim, ClaimResult answer) {
        if (answer instanceof ClaimResult.Granted) {
            if (known.size() >= MOST_KNOWN) {
                known.clear();
            }
            known.add(claim.key());
        }
    }

    /** Empty if more has to be known. */
    Mono<ClaimResult> answered(SqlSession session, Claim claim) {
        return session.sql().knows("claim")
                ? taken(session, claim).switchIfEmpty(Mono.defer(() -> joined(session, claim)))
                : takenAndSeen(session, claim);
    }

    /**
     * The plain statement for a lock that is free, or is only tried. It is short, so both sides are soon done with it.
     */
    private Mono<ClaimResult> taken(SqlSession session, Claim claim) {
        boolean isTry = claim.mode() == Claim.Mode.TRY;
        if (!session.sql().knowsBoth() || (isTry ? waits.isWaitedFor(claim.key()) : waits.isContended(claim.key()))) {
            return Mono.empty();
        }
        long offset = ahead;
        if (!isTry && offset != UNKNOWN && session.sql().knows("retake") && known.contains(claim.key())) {
            return retaken(session, claim, offset + micros());
        }
        return tried(session, claim, isTry)
                .doOnNext(row -> {
                    if (claim.id().equals(row.claimId())) {
                        ahead = row.token() - micros();
                    }
                })
                .flatMap(row -> row.taken(claim));
    }

    private Mono<Seen> tried(SqlSession session, Claim claim, boolean isTry) {
        byte[] key = KeyLayout.bytes(claim.key());
        String id = claim.id();
        String client = pushes.client();
        long lease = Micros.of(claim.lease());
        if (session.sql().isMySql()) {
            return session.inOne("take", Seen.of(session), key, id, claim.owner(), client, lease, key);
        }
        return session.alone(
                isTry && session.sql().knows("try")
                        ? session.one("try", Seen::read, key, id, key, id, claim.owner(), client, lease)
                        : session.one("take", Seen.of(session), key, id, claim.owner(), client, lease));
    }

    /**
     * The same for a lock that has a row, with the token that the database would give by its clock. If there is no
     * answer the row was removed, is held, had a later token, or the two clocks have come apart.
     */
    private Mono<ClaimResult> retaken(SqlSession session, Claim claim, long token) {
        Object[] question = {
            claim.id(),
            claim.owner(),
            pushes.client(),
            token,
            Micros.of(claim.lease()),
            KeyLayout.bytes(claim.key()),
            token,
            token
        };
        return session.alone(session.change("retake", question)).flatMap(rows -> {
            if (rows == 0) {
                ahead = UNKNOWN;
                return Mono.empty();
            }
            return Mono.just(TableLock.granted(token, claim));
        });
    }

    private static long micros() {
        return TimeUnit.NANOSECONDS.toMicros(System.nanoTime());
    }

    /** The same and joining the queue, in one statement. */
    private Mono<ClaimResult> joined(SqlSession session, Claim claim) {
        long joins = claim.mode() == Claim.Mode.TRY ? 0 : 1;
        Object[] question = {
            KeyLayout.bytes(claim.key()), claim.id(), claim.owner(), pushes.client(), Micros.of(claim.lease()), joins
        };
        return session.inOne("claim", Seen::read, question).flatMap(seen -> seen.answer(claim));
    }

    /** A lock for which others of this backend wait is not free. */
    private Mono<ClaimResult> takenAndSeen(SqlSession session, Claim claim) {
        byte[] key = KeyLayout.bytes(claim.key());
        long lease = Micros.of(claim.lease());
        return waits.isWaitedFor(claim.key()) || !session.sql().handsOn()
                ? Mono.empty()
                : session.alone(session.change("take", key, claim.id(), claim.owner(), pushes.client(), lease))
                        .then(session.alone(session.one("look", Seen::read, key)))
                        .flatMap(seen -> seen.taken(claim));
    }
}
