package io.github.reactivelock.redis;

import io.github.reactivelock.spi.LockPage;
import io.github.reactivelock.state.LockInfo;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The locks that are held, found by the names of their owners' keys: {@code SCAN}, a thousand keys at a time, on one
 * primary after the other. A script that runs for a key runs where the key's slot is. So each primary is named by a key
 * in one of its slots, its anchor; what is left to do is {@code ANCHOR,ANCHOR…:CURSOR}.
 */
final class RedisListing {

    private static final Logger log = LoggerFactory.getLogger(RedisListing.class);
    private static final String BEGINNING = "0";
    /** A key whose slot is not the first one, unless there is but one part of the store. */
    private static final String ANYWHERE = "reactive-lock";

    private static final int AT_ONCE = 64;
    /** Each is tried by chance; a primary with a hundredth of the slots is missed once in 10^43 times. */
    private static final int TRIES = 10_000;

    private final RedisConnection connection;
    private final KeyLayout names;
    private final Function<String, Mono<LockInfo>> inspect;
    /** Those whose last question has no answer; not more than there are primaries. */
    private final Set<String> unanswered = ConcurrentHashMap.newKeySet();

    /** @param inspect looks at one lock */
    RedisListing(RedisConnection connection, KeyLayout names, Function<String, Mono<LockInfo>> inspect) {
        this.connection = connection;
        this.names = names;
        this.inspect = inspect;
    }

    /** The servers that have not answered what they were asked last. */
    List<String> unanswered() {
        return unanswered.stream()
                .map(anchor -> connection.server(names.owner(anchor)))
                .distinct()
                .sorted()
                .toList();
    }

    Mono<LockPage> part(String prefix, String from) {
        Mono<String> place = from.isEmpty() ? first() : Mono.just(from);
        return place.flatMap(at -> {
            int colon = at.indexOf(':');
            List<String> anchors = List.of(at.substring(0, colon).split(","));
            return run(anchors.get(0), "scan", at.substring(colon + 1), names.ownersOf(prefix))
                    .flatMap(reply -> page(prefix, anchors, reply));
        });
    }

    private Mono<LockPage> page(String prefix, List<String> anchors, List<Object> reply) {
        String cursor = String.valueOf(reply.get(reply.size() - 1));
        List<String> left = cursor.equals(BEGINNING) ? anchors.subList(1, anchors.size()) : anchors;
        String next = left.isEmpty() ? "" : String.join(",", left) + ":" + cursor;
        return Flux.fromIterable(new HashSet<>(reply.subList(0, reply.size() - 1)))
                .mapNotNull(name -> key(prefix, String.valueOf(name)))
                .flatMap(
                        key -> inspect.apply(key).onErrorResume(RedisFailure::isForeign, RedisListing::isNoLock),
                        AT_ONCE)
                .ofType(LockInfo.Held.class)
                .collectList()
                .map(held -> new LockPage(held, next));
    }

    /** What stands in the place of a lock and is none is no reason to show no other. */
    private static Mono<LockInfo> isNoLock(Throwable error) {
        log.warn("{}; it is left out of the list of locks", error.getMessage());
        return Mono.empty();
    }

    /** Null if the name is none of ours. */
    private @Nullable String key(String prefix, String name) {
        String key = names.key(name);
        return key != null && key.startsWith(prefix) ? key : null;
    }

    private Mono<String> first() {
        return connection.slot(ANYWHERE) == 0
                ? Mono.just("0:" + BEGINNING)
                : run(BEGINNING, "primaries").map(ranges -> String.join(",", anchors(ranges)) + ":" + BEGINNING);
    }

    /** One for each primary that has slots. */
    private List<String> anchors(List<Object> ranges) {
        Set<Object> missing = new HashSet<>();
        for (int i = 2; i < ranges.size(); i += 3) {
            missing.add(ranges.get(i));
        }
        List<String> anchors = new ArrayList<>();
        for (int number = 0; number < TRIES && !missing.isEmpty(); number++) {
            String anchor = Integer.toString(number);
            Object primary = primaryOf(connection.slot(names.owner(anchor)), ranges);
            if (primary != null && missing.remove(primary)) {
                anchors.add(anchor);
            }
        }
        if (!missing.isEmpty()) {
            throw new IllegalStateException(
                    "these primaries have so few slots that they could not be asked: " + missing);
        }
        return anchors;
    }

    private static @Nullable Object primaryOf(long slot, List<Object> ranges) {
        for (int i = 0; i + 2 < ranges.size(); i += 3) {
            if ((Long) ranges.get(i) <= slot && slot <= (Long) ranges.get(i + 1)) {
                return ranges.get(i + 2);
            }
        }
        return null;
    }

    private Mono<List<Object>> run(String anchor, String... args) {
        return connection
                .eval(RedisScript.LOCK, List.of(names.owner(anchor)), List.of(args))
                .doOnSubscribe(asked -> unanswered.add(anchor))
                .doOnTerminate(() -> unanswered.remove(anchor));
    }
}
