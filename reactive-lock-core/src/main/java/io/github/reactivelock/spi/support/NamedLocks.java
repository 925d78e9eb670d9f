package io.github.reactivelock.spi.support;

import io.github.reactivelock.spi.LockPage;
import io.github.reactivelock.state.LockInfo;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Pages of locks for a store that tells the names of all in one answer. */
public final class NamedLocks {

    private static final int PART = 500;
    private static final int AT_ONCE = 16;

    private NamedLocks() {}

    /**
     * The locks whose names come next, each inspected by itself. Cold.
     *
     * @param names of all locks that are asked for, in any order
     * @param from the last name of the page before, or empty
     * @param inspect reads the lock of a name
     * @return those of the next 500 that are held
     */
    public static Mono<LockPage> page(Stream<String> names, String from, Function<String, Mono<LockInfo>> inspect) {
        List<String> part = names.filter(name -> name.compareTo(from) > 0)
                .sorted()
                .limit(PART)
                .toList();
        return Flux.fromIterable(part)
                .flatMap(inspect, AT_ONCE)
                .ofType(LockInfo.Held.class)
                .collectList()
                .map(held -> new LockPage(held, part.size() < PART ? "" : part.get(PART - 1)));
    }
}
