package io.github.reactivelock.spi.queue;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.FireAndForget;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Entries that outlast the holds they were made for, until their time is over. The session keeps them, so this client
 * has to remove them: at their time, and when it is closed, if the session goes on. Safe for use from any thread.
 *
 * @param <P> a place in the queue
 * @param <E> a claim's entry
 */
public final class KeptClaims<P extends Place, E extends ClaimEntry<P>> {

    private static final int AT_ONCE = 64;

    /** An entry that the first claim made and the second has. */
    private record Kept<E>(Claim held, Claim kept, E entry) {}

    private final Entries<P, E> entries;
    /** Those of claims that have not ended. */
    private final Map<String, ? extends QueuedClaim<P, E>> states;

    /** By the ids of both claims. */
    private final Map<String, Kept<E>> all = new ConcurrentHashMap<>();

    /**
     * None yet.
     *
     * @param entries looks at them and removes them
     * @param states claims that have not ended, by id; one that is kept leaves
     */
    public KeptClaims(Entries<P, E> entries, Map<String, ? extends QueuedClaim<P, E>> states) {
        this.entries = entries;
        this.states = states;
    }

    /**
     * Whether a claim is one of those two, and not over.
     *
     * @param claim the one that was held, or the one that is kept
     * @return false if neither
     */
    public boolean has(Claim claim) {
        return all.containsKey(claim.id());
    }

    /**
     * Hands a hold over, as {@code LockBackend.keep}. The entry stays where it is; what is said of the first claim from
     * then on means nothing. Cold.
     *
     * @param held owns the lock
     * @param to has it from then on, for its lease
     * @return whether it was held
     */
    public Mono<Boolean> keep(Claim held, Claim to) {
        return Mono.defer(() -> {
            QueuedClaim<P, E> state = states.get(held.id());
            E entry = state == null ? null : state.entry();
            if (state == null || entry == null || !state.isOwner()) {
                return Mono.just(has(to));
            }
            return there(held, entry)
                    .map(stays -> {
                        if (!states.remove(held.id(), state)) {
                            return true;
                        }
                        boolean owner = state.leave();
                        if (owner) {
                            add(held, to, stays);
                        }
                        state.over();
                        return owner;
                    })
                    .defaultIfEmpty(false);
        });
    }

    /** Nothing is left that could be called back when its hold is over. */
    private Mono<E> there(Claim held, E entry) {
        return held.recallable()
                ? entries.unmark(entry)
                : entries.isThere(entry).filter(keeps -> keeps).map(keeps -> entry);
    }

    private void add(Claim held, Claim kept, E entry) {
        Kept<E> added = new Kept<>(held, kept, entry);
        all.put(held.id(), added);
        all.put(kept.id(), added);
        Mono<?> end = Mono.delay(kept.lease(), DriverThreads.timer()).flatMap(now -> remove(all.get(kept.id())));
        FireAndForget.run("ending a minimum hold", end);
    }

    /**
     * Ends what is kept. Only the second claim does that, what is still said of the first does not. Cold.
     *
     * @param claim one of the two
     * @return whether it was there until now
     */
    public Mono<Boolean> release(Claim claim) {
        return Mono.defer(() -> {
            Kept<E> known = all.get(claim.id());
            return known != null && known.kept.id().equals(claim.id()) ? remove(known) : Mono.just(false);
        });
    }

    private Mono<Boolean> remove(@Nullable Kept<E> known) {
        if (known == null || !all.remove(known.kept.id(), known)) {
            return Mono.just(false);
        }
        all.remove(known.held.id(), known);
        return entries.remove(known.entry);
    }

    /**
     * Ends all. Cold.
     *
     * @return completes when each was removed, or failed to be and is left to {@link Entries#remove}
     */
    public Mono<Void> close() {
        return Flux.defer(() -> Flux.fromIterable(List.copyOf(all.values())))
                .flatMap(known -> remove(known).onErrorComplete(), AT_ONCE)
                .then();
    }
}
