package io.github.reactivelock.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.WatchOption;
import io.etcd.jetcd.watch.WatchEvent;
import io.etcd.jetcd.watch.WatchResponse;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.support.EndlessRetry;
import io.github.reactivelock.spi.support.SignalListeners;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Supplier;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * What is pushed to this client: grants that its own watches found, and notices that other clients put under its key,
 * which is how a forced release reaches the owner. That key, and those of its leases that begin alike, are watched for
 * as long as there is a subscriber.
 */
final class SignalSink {

    private static final Duration FIRST_PAUSE = Duration.ofMillis(50);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

    private final Etcd etcd;
    private final Supplier<ByteSequence> notices;
    private final SignalListeners listeners = new SignalListeners();

    SignalSink(Etcd etcd, Supplier<ByteSequence> notices) {
        this.etcd = etcd;
        this.notices = notices;
    }

    void push(Signal signal) {
        listeners.push(signal);
    }

    /**
     * What is pushed, with each notice of a forced release turned into a signal by looking at the claim it names, and
     * with what happened meanwhile whenever that may have been missed.
     */
    Flux<Signal> signals(
            Function<String, Mono<Signal>> forced, Flux<Signal> meanwhile, BiConsumer<ByteSequence, Long> deleted) {
        return Flux.merge(listeners.signals(), noticed(forced, meanwhile, deleted));
    }

    void close(Throwable reason) {
        listeners.close(reason);
    }

    private Flux<Signal> noticed(
            Function<String, Mono<Signal>> forced, Flux<Signal> meanwhile, BiConsumer<ByteSequence, Long> deleted) {
        WatchOption option = WatchOption.builder()
                .withCreateNotify(true)
                .isPrefix(true)
                .withRequireLeader(true)
                .build();
        return etcd.watch(notices.get(), option)
                .doOnNext(response -> response.getEvents().stream()
                        .filter(event -> event.getEventType() == WatchEvent.EventType.DELETE)
                        .map(WatchEvent::getKeyValue)
                        .forEach(gone -> deleted.accept(gone.getKey(), gone.getModRevision())))
                .concatMap(response -> read(response, forced, meanwhile))
                .retryWhen(EndlessRetry.after(FIRST_PAUSE, LONGEST_PAUSE).filter(error -> !etcd.isClosed()));
    }

    private Flux<Signal> read(WatchResponse response, Function<String, Mono<Signal>> forced, Flux<Signal> meanwhile) {
        return response.isCreatedNotify()
                ? Flux.concat(Mono.just(new Signal.Reconnected()), missed().concatMap(forced), meanwhile)
                : Flux.fromIterable(response.getEvents())
                        .filter(event -> event.getEventType() == WatchEvent.EventType.PUT
                                && event.getKeyValue().getKey().equals(notices.get()))
                        .map(event -> event.getKeyValue().getValue().toString(StandardCharsets.UTF_8))
                        .concatMap(forced);
    }

    /** The last notice that was put before the watch began. */
    private Flux<String> missed() {
        return etcd.get(notices.get(), GetOption.DEFAULT)
                .flatMapIterable(answer -> answer.getKvs())
                .map(kv -> kv.getValue().toString(StandardCharsets.UTF_8));
    }
}
