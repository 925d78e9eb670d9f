package io.github.reactivelock.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.WatchOption;
import io.etcd.jetcd.watch.WatchEvent;
import io.etcd.jetcd.watch.WatchResponse;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.support.EndlessRetry;
import io.github.reactivelock.spi.support.SignalListeners;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.Supplier;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * What is pushed to this client: grants that its own watches found, and notices that other clients put under its keys,
 * which is how a forced release and a recall reach the owner. Those keys, and those of its leases that begin alike, are
 * watched for as long as there is a subscriber.
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
     * What is pushed, with each notice turned into a signal by the claims that it speaks of, and with what happened
     * meanwhile whenever that may have been missed. A client that may keep locks has to know of an interruption.
     */
    Flux<Signal> signals(ClaimRegistry claims) {
        return Flux.merge(listeners.signals(), noticed(claims));
    }

    void close(Throwable reason) {
        listeners.close(reason);
    }

    private Flux<Signal> noticed(ClaimRegistry claims) {
        WatchOption option = WatchOption.builder()
                .withCreateNotify(true)
                .isPrefix(true)
                .withRequireLeader(true)
                .build();
        return etcd.watch(notices.get(), option)
                .doOnNext(response -> response.getEvents().stream()
                        .filter(event -> event.getEventType() == WatchEvent.EventType.DELETE)
                        .map(WatchEvent::getKeyValue)
                        .forEach(gone -> claims.deleted(gone.getKey(), gone.getModRevision())))
                .concatMap(response -> read(response, claims))
                .retryWhen(EndlessRetry.after(FIRST_PAUSE, LONGEST_PAUSE)
                        .filter(error -> !etcd.isClosed() && !claims.mayKeep()));
    }

    private Flux<Signal> read(WatchResponse response, ClaimRegistry claims) {
        return response.isCreatedNotify()
                ? Flux.concat(Mono.just(new Signal.Reconnected()), missed(claims), claims.forced.missed())
                : Flux.fromIterable(response.getEvents())
                        .filter(event -> event.getEventType() == WatchEvent.EventType.PUT)
                        .map(WatchEvent::getKeyValue)
                        .concatMap(notice -> signal(notice, claims));
    }

    private Mono<Signal> signal(KeyValue notice, ClaimRegistry claims) {
        if (notice.getKey().equals(notices.get())) {
            return claims.forced.noticed(text(notice));
        }
        return notice.getKey().equals(KeyLayout.recalls(notices.get())) ? claims.recalled(text(notice)) : Mono.empty();
    }

    /** The last forced release that was told before the watch began. */
    private Flux<Signal> missed(ClaimRegistry claims) {
        return etcd.get(notices.get(), GetOption.DEFAULT)
                .flatMapIterable(answer -> answer.getKvs())
                .concatMap(notice -> claims.forced.noticed(text(notice)));
    }

    private static String text(KeyValue notice) {
        return notice.getValue().toString(StandardCharsets.UTF_8);
    }
}
