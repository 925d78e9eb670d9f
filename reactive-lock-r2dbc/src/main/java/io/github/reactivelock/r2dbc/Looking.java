package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.LockPage;
import io.github.reactivelock.state.LockInfo;
import io.r2dbc.spi.Row;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import reactor.core.publisher.Mono;

/** Looking at locks from outside. A token is the time of its grant, unless the clock was set back, and so says its age. */
record Looking(Database database) {

    private static final int PAGE = 500;
    /** Above every byte of UTF-8. */
    private static final byte END = (byte) 0xff;

    Mono<LockInfo> inspect(String key) {
        byte[] name = Keys.bytes(key);
        return database.run(session -> session.alone(session.one("inspect", row -> info(key, read(row), row), name))
                        .flatMap(info -> info.held().map(LockInfo.Held::waiters).orElse(0L) == 0
                                ? Mono.just(info)
                                : session.alone(session.all("queue", row -> LockRow.text(row, "owner"), name))
                                        .map(owners -> with(owners, info))))
                .defaultIfEmpty(new LockInfo.Free(key));
    }

    /** In the order of the keys' bytes, from a key on; the next part begins with the least that is behind the last one. */
    Mono<LockPage> part(String prefix, String from) {
        byte[] least = from.isEmpty() ? Keys.bytes(prefix) : behind(Keys.bytes(from), (byte) 0);
        byte[] end = behind(Keys.bytes(prefix), END);
        return database.run(session -> session.alone(session.all("list", Looking::held, least, end)))
                .map(held -> new LockPage(
                        held.stream().flatMap(info -> info.held().stream()).toList(),
                        held.size() < PAGE ? "" : held.get(PAGE - 1).key()));
    }

    private static byte[] behind(byte[] text, byte last) {
        byte[] longer = Arrays.copyOf(text, text.length + 1);
        longer[text.length] = last;
        return longer;
    }

    private static LockInfo held(Row row) {
        return info(Keys.key(Objects.requireNonNull(row.get("lock_key", byte[].class), "lock_key")), read(row), row);
    }

    private static LockRow read(Row row) {
        return LockRow.read(row, LockRow.number(row, "now_is"));
    }

    /** The lock's row, and another one with the number of its waiters. */
    static LockInfo info(String key, LockRow lock, Row counted) {
        return lock.isHeld()
                ? new LockInfo.Held(
                        key,
                        String.valueOf(lock.owner()),
                        lock.token() << LockBackend.PASS_BITS,
                        Keys.time(lock.leaseEnd() - lock.now()),
                        LockRow.number(counted, "waiters"),
                        Keys.time(lock.now() - lock.token()),
                        List.of())
                : new LockInfo.Free(key);
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
                                .toList())
                : info;
    }
}
