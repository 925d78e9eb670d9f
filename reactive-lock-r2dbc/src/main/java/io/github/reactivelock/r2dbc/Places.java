package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.FireAndForget;
import io.r2dbc.spi.Row;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Signal;
import reactor.core.publisher.Sinks;

/**
 * Keeps the places of claims that wait: those that ask within a moment by one statement, which also looks at their
 * locks. A place whose row another transaction has locked is passed over, as when the claim is being served just now.
 * Safe for use from any thread.
 */
final class Places {

    /** Claims in one statement. */
    private static final int MOST = 1_000;
    /** The engine's tick has many claims ask at once; this is how long that takes, and the delay of a question. */
    private static final Duration GATHERING = Duration.ofMillis(20);

    private static final Duration FIRST_PAUSE = Duration.ofMillis(10);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(80);

    private final Database database;
    /** To be called when a claim's question leaves. */
    private final Consumer<Claim> leaves;

    private final Queue<Ask> asks = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean gathering = new AtomicBoolean();

    /** A claim that waits for its answer; empty if only the full question has one. */
    private record Ask(Claim claim, Sinks.One<Seen> answer) {

        void answered(Signal<Map<String, Seen>> all) {
            Throwable failure = all.getThrowable();
            if (failure != null) {
                answer.tryEmitError(failure);
                return;
            }
            Seen seen = Objects.requireNonNull(all.get()).get(claim.id());
            if (seen == null) {
                answer.tryEmitEmpty();
            } else {
                answer.tryEmitValue(seen);
            }
        }
    }

    /** A claim that keeps its place, and what was seen of its lock. */
    private record Kept(String claimId, Seen seen) {
        static Kept read(Row row) {
            return new Kept(LockRow.text(row, "kept_id"), Seen.read(row));
        }
    }

    Places(Database database, Consumer<Claim> leaves) {
        this.database = database;
        this.leaves = leaves;
    }

    /**
     * When a claim that waits is to ask again, in nanoseconds from now: at the latest after a third of its lease, and
     * at a moment that claims which began at other times, or have another lease, ask at too.
     */
    static long pause(Duration lease) {
        long third = lease.toNanos() / 3;
        long step = Math.max(1, Long.highestOneBit(third / 2));
        long now = System.nanoTime();
        return Math.floorDiv(now + third, step) * step - now;
    }

    /** What is to be seen of a claim's lock when its place was kept; empty if it has none, or that is not known. */
    Mono<Seen> kept(Claim claim) {
        return Mono.defer(() -> {
            Ask ask = new Ask(claim, Sinks.one());
            asks.add(ask);
            if (gathering.compareAndSet(false, true)) {
                FireAndForget.run(
                        "keeping places",
                        Mono.delay(GATHERING, DriverThreads.timer()).then(Mono.defer(this::all)));
            }
            return ask.answer.asMono();
        });
    }

    private Mono<Void> all() {
        gathering.set(false);
        List<Ask> gathered = new ArrayList<>();
        for (Ask ask = asks.poll(); ask != null; ask = asks.poll()) {
            gathered.add(ask);
        }
        return Flux.fromIterable(gathered)
                .buffer(MOST)
                .flatMap(some -> Renewal.divided(some, this::together, R2dbcFailure::divides))
                .doOnNext(part -> part.of().forEach(ask -> ask.answered(part.answer())))
                .then();
    }

    private Mono<Map<String, Seen>> together(List<Ask> some) {
        return kept(some.stream().map(Ask::claim).toList(), FIRST_PAUSE)
                .map(kept -> kept.stream().collect(Collectors.toMap(Kept::claimId, Kept::seen)));
    }

    /**
     * In H2 a question about one claim locks the row of its lock, so all others of that lock are passed over meanwhile.
     * They are asked for again together: each by itself would lock that row again, and pass others over.
     */
    private Mono<List<Kept>> kept(List<Claim> claims, Duration pause) {
        Mono<List<Kept>> asked = database.runAgain(session -> {
            claims.forEach(leaves);
            return kept(session, claims);
        });
        if (database.sql.dialect != Dialect.H2 || pause.compareTo(LONGEST_PAUSE) > 0) {
            return asked;
        }
        return asked.flatMap(kept -> {
            Set<String> known = kept.stream().map(Kept::claimId).collect(Collectors.toSet());
            List<Claim> left =
                    claims.stream().filter(claim -> !known.contains(claim.id())).toList();
            return left.isEmpty()
                    ? Mono.just(kept)
                    : Mono.delay(pause, DriverThreads.timer())
                            .then(Mono.defer(() -> kept(left, pause.multipliedBy(2))))
                            .map(later ->
                                    Stream.concat(kept.stream(), later.stream()).toList())
                            .onErrorReturn(kept);
        });
    }

    private static Mono<List<Kept>> kept(SqlSession session, List<Claim> claims) {
        List<String> ids = ids(claims);
        Object[] asked =
                session.sql().dialect == Dialect.MARIADB && !session.sql().isMySql()
                        ? new Object[] {ids, ids}
                        : new Object[] {ids};
        return session.allInOne("keep", Kept::read, asked)
                .switchIfEmpty(Mono.defer(() -> keptInSteps(session, claims)));
    }

    private static Mono<List<Kept>> keptInSteps(SqlSession session, List<Claim> claims) {
        Mono<List<String>> kept = mine(session, claims)
                .flatMap(mine -> mine.isEmpty()
                        ? Mono.just(mine)
                        : session.change("places_keep", mine).thenReturn(mine));
        return session.bounded(session.transaction(kept))
                .flatMap(mine -> mine.isEmpty()
                        ? Mono.just(List.of())
                        : session.alone(session.all("places_seen", Kept::read, mine)));
    }

    /** H2 reads the clock once in a transaction, so there the rows of the locks keep others from serving a claim. */
    private static Mono<List<String>> mine(SqlSession session, List<Claim> claims) {
        return session.sql().dialect == Dialect.H2
                ? session.all(
                                "places_lock",
                                row -> KeyLayout.key(KeyLayout.read(row)),
                                claims.stream()
                                        .map(claim -> KeyLayout.bytes(claim.key()))
                                        .toList())
                        .map(keys -> ids(claims.stream()
                                .filter(claim -> keys.contains(claim.key()))
                                .toList()))
                : session.all("places_mine", row -> LockRow.text(row, "claim_id"), ids(claims));
    }

    private static List<String> ids(List<Claim> claims) {
        return claims.stream().map(Claim::id).toList();
    }
}
