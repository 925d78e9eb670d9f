package io.github.reactivelock.consul;

import io.github.reactivelock.spi.LockPage;
import io.github.reactivelock.spi.queue.PlaceQueue;
import io.github.reactivelock.spi.support.EndlessRetry;
import io.github.reactivelock.spi.support.NamedLocks;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Looking at a lock without a claim of one's own: its state, its changes, and taking it from its owner. */
final class Observer {

    private static final Duration PAUSE = Duration.ofMillis(100);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

    private final Agents agents;
    private final ClaimKeys keys;
    private final Watches watches;
    private final KeyLayout names;

    Observer(Agents agents, ClaimKeys keys, Watches watches, KeyLayout names) {
        this.agents = agents;
        this.keys = keys;
        this.watches = watches;
        this.names = names;
    }

    Mono<LockInfo> inspect(String key) {
        return keys.queue(key)
                .delayUntil(queue -> queue.places().isEmpty() ? keys.requireReadable(names.lock(key)) : Mono.empty())
                .map(queue -> info(key, queue));
    }

    Mono<Void> probe(String key) {
        return keys.requireWritable(names.lock(key)).then(inspect(key)).then();
    }

    private static LockInfo info(String key, PlaceQueue<Entry> queue) {
        if (queue.held().isEmpty()) {
            return new LockInfo.Free(key);
        }
        Entry newest = queue.held().get(queue.held().size() - 1);
        return new LockInfo.Held(
                key,
                newest.content().owner(),
                newest.token(),
                newest.content().lease(),
                queue.waiting().size(),
                null,
                queue.waiting().stream()
                        .limit(LockInfo.Held.MOST_SHOWN)
                        .map(waiting -> new LockInfo.Waiting(waiting.content().owner(), null))
                        .toList(),
                newest.share().isWhole() ? null : shares(queue),
                newest.isRecallable());
    }

    private static LockInfo.Shares shares(PlaceQueue<Entry> queue) {
        List<LockInfo.Holder> first = queue.newestHolders()
                .limit(LockInfo.Held.MOST_SHOWN)
                .map(holder -> new LockInfo.Holder(
                        holder.content().owner(),
                        holder.share().units(),
                        holder.token(),
                        holder.content().lease()))
                .toList();
        return new LockInfo.Shares(
                (int) Math.min(queue.units(), Integer.MAX_VALUE), queue.held().size(), first);
    }

    Mono<LockPage> list(String prefix, String from) {
        Mono<List<String>> found = keys.locks(names.locks(prefix))
                .delayUntil(all -> all.isEmpty() ? keys.requireReadable(names.locks(prefix)) : Mono.empty());
        return found.flatMap(all -> NamedLocks.page(
                all.stream().filter(lock -> !names.key(lock).isEmpty()), from, lock -> inspect(names.key(lock))));
    }

    Flux<LockEvent> events(String key) {
        return Flux.defer(() -> {
                    Events events = new Events(key);
                    return keys.requireReadable(names.lock(key))
                            .thenMany(watches.below(names.lock(key)))
                            .concatMapIterable(found -> events.seen(Entry.queue(found)));
                })
                .retryWhen(EndlessRetry.after(PAUSE, LONGEST_PAUSE)
                        .filter(error -> !agents.isClosed() && !ConsulFailure.is(error, ConsulFailure.Kind.DENIED)));
    }

    /** Deletes the key of that token if it holds the lock, and tells its client if it listens. */
    Mono<Boolean> forceRelease(String key, long fencingToken) {
        return holder(key, fencingToken).flatMap(holder -> force(key, holder)).defaultIfEmpty(false);
    }

    private Mono<Entry> holder(String key, long fencingToken) {
        return keys.queue(key)
                .flatMap(queue -> Mono.justOrEmpty(queue.held().stream()
                        .filter(holder -> holder.token() == fencingToken)
                        .findFirst()));
    }

    /** Its client may have written the key again since the look, so that it cannot be called back any more. */
    private Mono<Boolean> force(String key, Entry holder) {
        return keys.delete(holder).flatMap(deleted -> {
            if (deleted.done()) {
                return tell(holder).thenReturn(true);
            }
            Mono<Boolean> over = deleted.repeated()
                    ? Mono.error(ConsulFailure.unclear(agents.names(), "'" + key + "' was still held"))
                    : Mono.just(false);
            return holder.isRecallable()
                    ? holder(key, holder.token())
                            .filter(now -> !now.isRecallable())
                            .flatMap(now -> force(key, now))
                            .switchIfEmpty(over)
                    : over;
        });
    }

    private Mono<Void> tell(Entry holder) {
        String client = holder.content().client();
        return client.isEmpty()
                ? Mono.empty()
                : keys.notice(names.notice(client), holder.session(), holder.claimId())
                        .onErrorComplete();
    }

    /** The holders of a lock as a watch has shown them so far. Used by one subscription, one answer at a time. */
    private static final class Events {

        private final String key;
        private final Map<Long, Entry> holders = new LinkedHashMap<>();
        private boolean hasBegun;

        Events(String key) {
            this.key = key;
        }

        /** A holder that came and went between two answers is passed over. */
        List<LockEvent> seen(PlaceQueue<Entry> queue) {
            Map<Long, Entry> present = queue.held().stream()
                    .collect(Collectors.toMap(Entry::created, holder -> holder, (a, b) -> a, LinkedHashMap::new));
            List<LockEvent> events = new ArrayList<>();
            if (hasBegun) {
                holders.forEach((index, gone) -> {
                    if (!present.containsKey(index)) {
                        events.add(new LockEvent.Released(
                                key, gone.token(), gone.share().units()));
                    }
                });
                present.forEach((index, entered) -> {
                    if (!holders.containsKey(index)) {
                        events.add(new LockEvent.Acquired(
                                key,
                                entered.content().owner(),
                                entered.token(),
                                entered.share().units()));
                    }
                });
            } else {
                events.add(new LockEvent.Snapshot(info(key, queue)));
            }
            hasBegun = true;
            holders.clear();
            holders.putAll(present);
            return events;
        }
    }
}
