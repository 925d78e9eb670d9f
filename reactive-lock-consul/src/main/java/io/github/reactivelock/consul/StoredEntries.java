package io.github.reactivelock.consul;

import io.github.reactivelock.spi.queue.Entries;
import io.github.reactivelock.spi.queue.PlaceQueue;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The keys of claims, as those of a queue ({@code spi.queue}). */
final class StoredEntries implements Entries<Entry, Entry> {

    private final ClaimKeys keys;
    private final Watches watches;
    private final KeyLayout names;
    private final Session session;
    private final Removals removals;
    /** Those of claims of this client that have not ended. */
    private final Map<String, ClaimState> states;

    StoredEntries(
            ClaimKeys keys,
            Watches watches,
            KeyLayout names,
            Session session,
            Removals removals,
            Map<String, ClaimState> states) {
        this.keys = keys;
        this.watches = watches;
        this.names = names;
        this.session = session;
        this.removals = removals;
        this.states = states;
    }

    @Override
    public Mono<PlaceQueue<Entry>> queue(String key) {
        return keys.queue(key);
    }

    @Override
    public Flux<PlaceQueue<Entry>> queues(String key) {
        return watches.below(names.lock(key)).map(Entry::queue);
    }

    /** What becomes of a claim of this client is known here, so a crowd of waiters needs one watch. */
    @Override
    public Mono<Void> untilChanged(String key, Entry obstacle) {
        ClaimState before = states.get(obstacle.claimId());
        Mono<Void> over = before == null ? null : before.untilOver(obstacle);
        return over == null ? watches.untilChanged(obstacle) : over;
    }

    @Override
    public Duration reliable() {
        return session.isFresh() ? session.reliable() : Duration.ZERO;
    }

    @Override
    public Mono<Boolean> isThere(Entry key) {
        return keys.check(List.of(key))
                .flatMap(checked -> checked.get(0) instanceof ClaimKeys.Checked.Refused refused
                        ? Mono.error(refused.why())
                        : Mono.just(checked.get(0) instanceof ClaimKeys.Checked.Kept));
    }

    @Override
    public Mono<Entry> unmark(Entry key) {
        return Mono.defer(() -> {
            ClaimState state = states.get(key.claimId());
            if (state != null) {
                state.rewrite();
            }
            return keys.unmark(key);
        });
    }

    @Override
    public Mono<Boolean> remove(Entry givenUp) {
        return removals.remove(givenUp);
    }
}
