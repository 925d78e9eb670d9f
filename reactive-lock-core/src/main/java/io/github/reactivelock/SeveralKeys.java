package io.github.reactivelock;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Work under several locks: one inside the other, in the order of their keys, under one deadline. */
final class SeveralKeys<T> {

    private final Engine engine;
    private final List<String> keys;
    private final LockOptions options;
    private final long deadline;
    private final boolean single;
    private final Function<? super List<LockHandle>, ? extends Publisher<T>> work;

    private SeveralKeys(
            Engine engine,
            List<String> keys,
            LockOptions options,
            boolean single,
            Function<? super List<LockHandle>, ? extends Publisher<T>> work) {
        this.engine = engine;
        this.keys = keys;
        this.options = options;
        this.deadline = engine.timing.deadline(options);
        this.single = single;
        this.work = work;
    }

    static <T> Mono<T> mono(
            Engine engine,
            Collection<String> keys,
            LockOptions options,
            Function<? super List<LockHandle>, ? extends Publisher<T>> work) {
        List<String> sorted = sorted(keys);
        Objects.requireNonNull(work, "work");
        return Mono.defer(
                () -> Mono.fromDirect(new SeveralKeys<>(engine, sorted, options, true, work).from(List.of())));
    }

    static <T> Flux<T> flux(
            Engine engine,
            Collection<String> keys,
            LockOptions options,
            Function<? super List<LockHandle>, ? extends Publisher<T>> work) {
        List<String> sorted = sorted(keys);
        Objects.requireNonNull(work, "work");
        return Flux.defer(() -> new SeveralKeys<>(engine, sorted, options, false, work).from(List.of()));
    }

    private static List<String> sorted(Collection<String> keys) {
        if (keys.isEmpty()) {
            throw new IllegalArgumentException("the keys of locks must be at least one but are none");
        }
        return keys.stream().map(Names::key).distinct().sorted().toList();
    }

    /** The work, under the locks that are not held yet. */
    private Publisher<T> from(List<LockHandle> held) {
        if (held.size() == keys.size()) {
            return work.apply(held);
        }
        return LockedWork.publisher(engine, keys.get(held.size()), options, deadline, single, handle -> {
            List<LockHandle> more = new ArrayList<>(held);
            more.add(handle);
            return from(List.copyOf(more));
        });
    }
}
