package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.FencingTokens;
import io.github.reactivelock.spi.LockPage;
import io.github.reactivelock.state.LockInfo;
import io.r2dbc.spi.Row;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Looking at locks from outside. All that is shown of one lock comes from one statement, so it was true at one moment.
 * A token is the time of its grant, unless the clock was set back, and so says its age.
 */
record Observer(Database database) {

    private static final int PAGE = 500;
    /** Above every byte of UTF-8. */
    private static final byte END = (byte) 0xff;

    /** Which rows of an answer a row is one of. */
    private enum Part {
        LOCK,
        HOLDER,
        WAITER;

        static Part of(long number) {
            return number == 0 ? LOCK : number == 1 ? HOLDER : WAITER;
        }
    }

    /** A row of an answer: the lock, a holder of it, or a claim that waits; {@code many} counts those of its part. */
    private record Found(
            Part part,
            String claimId,
            String owner,
            long number,
            long leaseEnd,
            long now,
            long units,
            long many,
            long all) {
        static Found read(Row row) {
            return new Found(
                    Part.of(sum(row, "part")),
                    LockRow.text(row, "claim_id"),
                    String.valueOf(row.get("owner", String.class)),
                    sum(row, "number"),
                    sum(row, "lease_end"),
                    sum(row, "now_is"),
                    sum(row, "units"),
                    sum(row, "many"),
                    sum(row, "all_units"));
        }

        /** A sum is of another type in each database. */
        private static long sum(Row row, String column) {
            return ((Number) Objects.requireNonNull(row.get(column), column)).longValue();
        }

        LockInfo.Holder holder() {
            return new LockInfo.Holder(
                    owner, Math.toIntExact(units), FencingTokens.of(number), Micros.toDuration(leaseEnd - now));
        }
    }

    /** A lock of a part of all of them, without its queue. */
    private record Listed(String key, LockRow lock, long waiters) {
        static Listed read(Row row) {
            return new Listed(
                    KeyLayout.key(KeyLayout.read(row)),
                    LockRow.read(row, LockRow.number(row, "now_is")),
                    LockRow.number(row, "waiters"));
        }

        LockInfo info() {
            return held(
                    key,
                    String.valueOf(lock.owner()),
                    lock.token(),
                    lock.leaseEnd(),
                    lock.now(),
                    waiters,
                    List.of(),
                    lock.claimId());
        }
    }

    Mono<LockInfo> inspect(String key) {
        return database.run(session -> session.alone(look(session, key)));
    }

    /** For a transaction too. */
    static Mono<LockInfo> look(SqlSession session, String key) {
        byte[] name = KeyLayout.bytes(key);
        return session.all("inspect", Found::read, name, name, name).map(found -> info(key, found));
    }

    Mono<Void> probe(String key) {
        return database.run(session -> session.alone(session.change("probe", KeyLayout.bytes(key))))
                .then();
    }

    Mono<Boolean> isCurrent(String key, long fencingToken) {
        long token = FencingTokens.number(fencingToken);
        return database.run(session -> session.alone(session.one(
                "is_current", found -> LockRow.number(found, "found") > 0, KeyLayout.bytes(key), token, token)));
    }

    /** No key is empty, and a mode of MariaDB takes empty bytes for null. */
    private static byte[] from(String prefix) {
        return prefix.isEmpty() ? KeyLayout.FIRST : KeyLayout.bytes(prefix);
    }

    /**
     * In the order of the keys' bytes, from a key on; the next part begins with the least that is behind the last one.
     */
    Mono<LockPage> part(String prefix, String from) {
        byte[] least = from.isEmpty() ? from(prefix) : behind(KeyLayout.bytes(from), (byte) 0);
        byte[] end = behind(KeyLayout.bytes(prefix), END);
        return database.run(session -> session.alone(session.all("list", Listed::read, least, end))
                .flatMap(listed -> Flux.fromIterable(listed)
                        .concatMap(each -> each.lock().isShared()
                                ? session.alone(look(session, each.key()))
                                : Mono.just(each.info()))
                        .flatMapIterable(info -> info.held().stream().toList())
                        .collectList()
                        .map(held -> new LockPage(
                                held,
                                listed.size() < PAGE ? "" : listed.get(PAGE - 1).key()))));
    }

    private static byte[] behind(byte[] text, byte last) {
        byte[] longer = Arrays.copyOf(text, text.length + 1);
        longer[text.length] = last;
        return longer;
    }

    /** The rows come in any order. It is free if it is shared and the lease of each holder is over. */
    private static LockInfo info(String key, List<Found> found) {
        List<Found> holders =
                of(Part.HOLDER, Comparator.comparingLong(Found::number).reversed(), found);
        List<Found> waiting = of(Part.WAITER, Comparator.comparingLong(Found::number), found);
        long waiters = waiting.isEmpty() ? 0 : waiting.get(0).many();
        List<LockInfo.Waiting> queue = waiting.stream()
                .map(each -> new LockInfo.Waiting(each.owner(), null))
                .toList();
        Found lock = found.stream()
                .filter(each -> each.part() == Part.LOCK)
                .findFirst()
                .orElse(null);
        if (lock == null || (LockRow.isMark(lock.claimId()) && holders.isEmpty())) {
            return new LockInfo.Free(key);
        }
        if (!LockRow.isMark(lock.claimId())) {
            return held(key, lock.owner(), lock.number(), lock.leaseEnd(), lock.now(), waiters, queue, lock.claimId());
        }
        Found newest = holders.get(0);
        return new LockInfo.Held(
                key,
                newest.owner(),
                FencingTokens.of(newest.number()),
                Micros.toDuration(newest.leaseEnd() - newest.now()),
                waiters,
                Micros.toDuration(newest.now() - newest.number()),
                queue,
                new LockInfo.Shares(
                        Math.toIntExact(newest.all()),
                        newest.many(),
                        holders.stream().map(Found::holder).toList()));
    }

    private static List<Found> of(Part part, Comparator<Found> order, List<Found> found) {
        return found.stream().filter(each -> each.part() == part).sorted(order).toList();
    }

    private static LockInfo held(
            String key,
            String owner,
            long token,
            long leaseEnd,
            long now,
            long waiters,
            List<LockInfo.Waiting> queue,
            @Nullable String claimId) {
        return new LockInfo.Held(
                key,
                owner,
                FencingTokens.of(token),
                Micros.toDuration(leaseEnd - now),
                waiters,
                Micros.toDuration(now - token),
                queue,
                null,
                Recalls.isRecallable(claimId));
    }
}
