package io.github.reactivelock.testkit.map;

import io.github.reactivelock.spi.support.DriverThreads;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * A store that knows no locks: an ordered map, somewhere else, with a clock. It has one command that decides anything,
 * {@link #putIfAbsent}; a value that is there is never changed. Each answer comes later, on a thread of the store's.
 *
 * @param <V> what it keeps, immutable; bytes in a real one
 */
final class OrderedMap<V> {

    private final ConcurrentNavigableMap<String, V> entries = new ConcurrentSkipListMap<>();
    private final Scheduler thread = DriverThreads.scheduler("ordered-map", 1);

    /** Whether the value was put; false, and nothing changed, if the key had one. */
    Mono<Boolean> putIfAbsent(String key, V value) {
        return ask(() -> entries.putIfAbsent(key, value) == null);
    }

    /** Forgets a range of keys, the first one included. */
    Mono<Void> delete(String from, String to) {
        return ask(() -> {
                    entries.subMap(from, to).clear();
                    return true;
                })
                .then();
    }

    /** What is there in a range of keys, the first one included, in their order. */
    Mono<SortedMap<String, V>> range(String from, String to) {
        return ask(() -> new TreeMap<>(Map.copyOf(entries.subMap(from, to))));
    }

    /** The store's own time, in nanoseconds; it never goes back. */
    Mono<Long> clock() {
        return ask(System::nanoTime);
    }

    private <T> Mono<T> ask(Callable<T> command) {
        return Mono.fromCallable(command).subscribeOn(thread);
    }
}
