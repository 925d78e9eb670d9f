package io.github.reactivelock.redis;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.support.Carried;
import io.github.reactivelock.spi.support.EndlessRetry;
import io.github.reactivelock.spi.support.LateId;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;
import reactor.core.publisher.Mono;

/**
 * Receives grants on sharded channels, which must be in the slot of their lock: one for each lock that claims of this
 * backend wait for, for as long as they do. Each time a subscription begins, its claims get a signal to ask again. The
 * set of waiting claims is changed under the map's lock for the key, and nothing foreign is called there.
 */
final class ShardGrants {

    private record Listening(Set<String> claims, Disposable.Swap subscription, AtomicBoolean heard) {}

    private static final Logger log = LoggerFactory.getLogger(ShardGrants.class);

    private final RedisChannels channels;
    private final KeyLayout names;
    private final LateId client;
    private final Set<String> asked = ConcurrentHashMap.newKeySet();
    private final Map<String, Listening> byKey = new ConcurrentHashMap<>();
    private final AtomicReference<@Nullable FluxSink<Signal>> sink = new AtomicReference<>();

    ShardGrants(RedisChannels channels, KeyLayout names, LateId client) {
        this.channels = channels;
        this.names = names;
        this.client = client;
    }

    Flux<Signal> signals() {
        return Flux.create(sink::set);
    }

    /** The answer to a claim; from the answer that it waits, grants of its lock are subscribed to. */
    Mono<ClaimResult> asked(Claim claim, Mono<ClaimResult> answer) {
        if (claim.mode() != Claim.Mode.QUEUE) {
            return answer;
        }
        return Mono.defer(() -> {
            asked.add(claim.id());
            return answer.doOnNext(result -> {
                if (result instanceof ClaimResult.Queued) {
                    queued(claim);
                }
            });
        });
    }

    /** The claim waits, unless it was released meanwhile. */
    private void queued(Claim claim) {
        Listening listening = byKey.compute(claim.key(), (key, present) -> {
            if (!asked.contains(claim.id())) {
                return present;
            }
            Listening joined = present == null
                    ? new Listening(ConcurrentHashMap.newKeySet(), Disposables.swap(), new AtomicBoolean())
                    : present;
            joined.claims.add(claim.id());
            return joined;
        });
        if (listening != null && listening.subscription.get() == null) {
            listening.subscription.update(listen(claim.key(), listening.heard));
        }
    }

    void released(Claim claim) {
        AtomicReference<@Nullable Listening> over = new AtomicReference<>();
        byKey.compute(claim.key(), (key, present) -> {
            asked.remove(claim.id());
            if (present != null && present.claims.remove(claim.id()) && present.claims.isEmpty()) {
                over.set(present);
                return null;
            }
            return present;
        });
        Listening ended = over.get();
        if (ended != null) {
            ended.subscription.dispose();
        }
    }

    /** Whether the channel of a lock was confirmed. */
    boolean isHeard(String key) {
        Listening listening = byKey.get(key);
        return listening != null && listening.heard.get();
    }

    /** The channel of a lock's grants. */
    String channel(String key) {
        return names.grants(key, client.get());
    }

    /** For all claims of the lock, so in the name of none of their flows. */
    private Disposable listen(String key, AtomicBoolean heard) {
        Flux<Signal> signals = channels.listen(channel(key))
                .mapNotNull(push -> push.isMessage() ? RedisReplies.signal(names, push.text()) : confirmed(key, heard))
                .retryWhen(EndlessRetry.after(Duration.ofMillis(50), Duration.ofSeconds(1)));
        return Carried.byNobody(signals)
                .subscribe(this::emit, error -> log.warn("grants of '{}' are not heard of any more", key, error));
    }

    private static Signal confirmed(String key, AtomicBoolean heard) {
        heard.set(true);
        return new Signal.Recheck(key);
    }

    private void emit(Signal signal) {
        FluxSink<Signal> subscriber = sink.get();
        if (subscriber != null) {
            subscriber.next(signal);
        }
    }
}
