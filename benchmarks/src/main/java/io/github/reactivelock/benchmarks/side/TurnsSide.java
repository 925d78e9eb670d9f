package io.github.reactivelock.benchmarks.side;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.lettuce.LettuceLockBackend;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import reactor.core.publisher.Mono;

/** Two clients of this library that take turns, as behind a router that knows no affinity at its worst. */
final class TurnsSide implements Side {

    private final List<LockClient> clients;
    private final AtomicInteger turns = new AtomicInteger();

    TurnsSide(String uri, LockOptions options) {
        this.clients = Stream.generate(() -> LockClient.builder(LettuceLockBackend.connect(uri))
                        .options(options)
                        .build())
                .limit(2)
                .toList();
    }

    @Override
    public void cycle(String key, long flow, Cycle cycle) {
        clients.get(turns.getAndIncrement() & 1)
                .withLock(key, held -> {
                    cycle.entered();
                    return Mono.empty();
                })
                .subscribe(nothing -> {}, cycle::ended, () -> cycle.ended(null));
    }

    @Override
    public void close() {
        clients.forEach(client -> client.close().block());
    }
}
