package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.LockPage;
import io.github.reactivelock.state.LockInfo;
import io.r2dbc.spi.Row;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Looking at locks from outside. A token is the time of its grant, unless the clock was set back, and so says its age. */
record Looking(Database database) {

    private static final int PAGE = 500;
    private static final int ATTEMPTS = 5;
    /** Above every byte of UTF-8. */
    private static final byte END = (byte) 0xff;

    /** A lock as one statement saw it; who shares it is asked for by another. */
    record Seen(String key, LockRow lock, long waiters) {
        static Seen read(String key, Row row) {
            return new Seen(key, LockRow.read(row, LockRow.number(row, "now_is")), LockRow.number(row, "waiters"));
        }

        static Seen read(Row row) {
            return read(Keys.key(Objects.requireNonNull(row.get("lock_key", byte[].class), "lock_key")), row);
        }
    }

    Mono<LockInfo> inspect(String key) {
        return database.run(session -> inspected(session, key, ATTEMPTS));
    }

    /** When those who shared it have left between two questions, both are asked again. */
    private static Mono<LockInfo> inspected(Session session, String key, int attempts) {
        byte[] name = Keys.bytes(key);
        Mono<LockInfo> again = Mono.defer(
                () -> attempts > 1 ? inspected(session, key, attempts - 1) : Mono.just(new LockInfo.Free(key)));
        return session.alone(session.one("inspect", row -> Seen.read(key, row), name))
                .defaultIfEmpty(new Seen(key, LockRow.none(), 0))
                .flatMap(seen -> session.alone(info(session, seen).singleOptional())
                        .flatMap(found -> found.map(Mono::just).orElse(again)))
                .flatMap(info -> info.held().map(LockInfo.Held::waiters).orElse(0L) == 0
                        ? Mono.just(info)
                        : session.alone(session.all("queue", row -> LockRow.text(row, "owner"), name))
                                .map(owners -> with(owners, info)));
    }

    /** In the order of the keys' bytes, from a key on; the next part begins with the least that is behind the last one. */
    Mono<LockPage> part(String prefix, String from) {
        byte[] least = from.isEmpty() ? Keys.bytes(prefix) : behind(Keys.bytes(from), (byte) 0);
        byte[] end = behind(Keys.bytes(prefix), END);
        return database.run(session -> session.alone(session.all("list", Seen::read, least, end))
                .flatMap(seen -> Flux.fromIterable(seen)
                        .concatMap(each ->
                                each.lock().isShared() ? inspected(session, each.key(), ATTEMPTS) : info(session, each))
                        .flatMapIterable(info -> info.held().stream().toList())
                        .collectList()
                        .map(held -> new LockPage(
                                held,
                                seen.size() < PAGE ? "" : seen.get(PAGE - 1).key()))));
    }

    private static byte[] behind(byte[] text, byte last) {
        byte[] longer = Arrays.copyOf(text, text.length + 1);
        longer[text.length] = last;
        return longer;
    }

    /** Empty if it is shared and no holder is left; for a transaction too. */
    static Mono<LockInfo> info(Session session, Seen seen) {
        LockRow lock = seen.lock();
        if (lock.isShared()) {
            return shared(session, seen);
        }
        return Mono.just(
                lock.isHeld()
                        ? new LockInfo.Held(
                                seen.key(),
                                String.valueOf(lock.owner()),
                                lock.token() << LockBackend.PASS_BITS,
                                Keys.time(lock.leaseEnd() - lock.now()),
                                seen.waiters(),
                                Keys.time(lock.now() - lock.token()),
                                List.of())
                        : new LockInfo.Free(seen.key()));
    }

    private static Mono<LockInfo> shared(Session session, Seen seen) {
        byte[] name = Keys.bytes(seen.key());
        return session.all("holders", Looking::holder, name)
                .filter(holders -> !holders.isEmpty())
                .flatMap(holders -> session.one(
                        "held",
                        sums -> shared(
                                seen,
                                holders,
                                Math.toIntExact(LockRow.number(sums, "units")),
                                LockRow.number(sums, "holders")),
                        name));
    }

    private static LockInfo shared(Seen seen, List<LockInfo.Holder> holders, int units, long count) {
        LockInfo.Holder newest = holders.get(0);
        return new LockInfo.Held(
                seen.key(),
                newest.owner(),
                newest.fencingToken(),
                newest.remaining(),
                seen.waiters(),
                Keys.time(seen.lock().now() - (newest.fencingToken() >> LockBackend.PASS_BITS)),
                List.of(),
                new LockInfo.Shares(units, count, holders));
    }

    private static LockInfo.Holder holder(Row row) {
        return new LockInfo.Holder(
                LockRow.text(row, "owner"),
                Math.toIntExact(LockRow.number(row, "units")),
                LockRow.number(row, "token") << LockBackend.PASS_BITS,
                Keys.time(LockRow.number(row, "lease_end") - LockRow.number(row, "now_is")));
    }

    private static LockInfo with(List<String> owners, LockInfo info) {
        return info instanceof LockInfo.Held held
                ? new LockInfo.Held(
                        held.key(),
                        held.owner(),
                        held.fencingToken(),
                        held.remaining(),
                        held.waiters(),
                        held.age(),
                        owners.stream()
                                .map(owner -> new LockInfo.Waiting(owner, null))
                                .toList(),
                        held.shares())
                : info;
    }
}
