package io.github.reactivelock.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.WatchOption;
import io.etcd.jetcd.watch.WatchEvent;
import io.etcd.jetcd.watch.WatchResponse;
import io.github.reactivelock.spi.LossReason;
import io.github.reactivelock.spi.Signal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * What is pushed to this client: grants that its own watches found, and notices that somebody else put under its key,
 * which is how a forced release reaches the owner. The key is watched for as long as somebody listens.
 */
final class Pushes {

    private static final Duration FIRST_PAUSE = Duration.ofMillis(50);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

    private final Etcd etcd;
    private final ByteSequence notices;
    private final Set<FluxSink<Signal>> listening = ConcurrentHashMap.newKeySet();

    Pushes(Etcd etcd, ByteSequence notices) {
        this.etcd = etcd;
        this.notices = notices;
    }

    void push(Signal signal) {
        for (FluxSink<Signal> sink : listening) {
            FluxSink<Signal> unused = sink.next(signal);
        }
    }

    Flux<Signal> signals() {
        Flux<Signal> pushed = Flux.create(sink -> {
            FluxSink<Signal> unused = sink.onDispose(() -> listening.remove(sink));
            listening.add(sink);
        });
        return Flux.merge(pushed, noticed());
    }

    void close(Throwable reason) {
        listening.forEach(sink -> sink.error(reason));
    }

    private Flux<Signal> noticed() {
        WatchOption option = WatchOption.builder()
                .withCreateNotify(true)
                .withNoDelete(true)
                .withRequireLeader(true)
                .build();
        return etcd.watch(notices, option)
                .concatMap(this::read)
                .retryWhen(Retry.backoff(Long.MAX_VALUE, FIRST_PAUSE)
                        .maxBackoff(LONGEST_PAUSE)
                        .transientErrors(true)
                        .filter(error -> !etcd.isClosed()));
    }

    private Flux<Signal> read(WatchResponse response) {
        return response.isCreatedNotify()
                ? Flux.concat(Mono.just(new Signal.Reconnected()), missed())
                : Flux.fromIterable(response.getEvents())
                        .filter(event -> event.getEventType() == WatchEvent.EventType.PUT)
                        .map(event -> forced(event.getKeyValue().getValue()));
    }

    /** A notice that was put before the watch began. */
    private Flux<Signal> missed() {
        return etcd.get(notices, GetOption.DEFAULT)
                .flatMapIterable(answer -> answer.getKvs())
                .map(kv -> forced(kv.getValue()));
    }

    private static Signal forced(ByteSequence claimId) {
        return new Signal.Suspect(claimId.toString(StandardCharsets.UTF_8), LossReason.FORCED);
    }
}
