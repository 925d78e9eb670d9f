package io.github.reactivelock.consul;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.FireAndForget;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Keys that outlast the holds they were made for, until their time is over. The session keeps them, so this client has
 * to delete them at their time. Safe for use from any thread.
 */
final class KeptClaims {

    /** A key that the first claim made and the second has. */
    private record Kept(Claim held, Claim kept, Entry key) {}

    private final Keys keys;
    private final Removals removals;
    /** Those of claims that have not ended. */
    private final Map<String, ClaimState> states;

    /** By the ids of both claims. */
    private final Map<String, Kept> all = new ConcurrentHashMap<>();

    KeptClaims(Keys keys, Removals removals, Map<String, ClaimState> states) {
        this.keys = keys;
        this.removals = removals;
        this.states = states;
    }

    boolean has(Claim claim) {
        return all.containsKey(claim.id());
    }

    /** The key stays where it is; what is said of the first claim from now on means nothing. */
    Mono<Boolean> keep(Claim held, Claim to) {
        return Mono.defer(() -> {
            ClaimState state = states.get(held.id());
            Entry key = state == null ? null : state.key();
            if (state == null || key == null || !state.isOwner()) {
                return Mono.just(has(to));
            }
            return keys.check(List.of(key)).flatMap(checked -> {
                if (checked.get(0) instanceof Keys.Checked.Refused refused) {
                    return Mono.error(refused.why());
                }
                boolean keeps = checked.get(0) instanceof Keys.Checked.Kept;
                if (keeps && states.remove(held.id(), state)) {
                    boolean owner = state.leave();
                    if (owner) {
                        add(held, to, key);
                    }
                    state.over();
                    return Mono.just(owner);
                }
                return Mono.just(keeps);
            });
        });
    }

    private void add(Claim held, Claim kept, Entry key) {
        Kept added = new Kept(held, kept, key);
        all.put(held.id(), added);
        all.put(kept.id(), added);
        Mono<?> end = Mono.delay(kept.lease(), DriverThreads.timer()).flatMap(now -> end(all.get(kept.id())));
        FireAndForget.run("ending a minimum hold", end);
    }

    /** Only the second claim ends it, what is still said of the first does not; whether it was there until now. */
    Mono<Boolean> release(Claim claim) {
        Kept known = all.get(claim.id());
        return known != null && known.kept.id().equals(claim.id()) ? end(known) : Mono.just(false);
    }

    private Mono<Boolean> end(@Nullable Kept known) {
        if (known == null || !all.remove(known.kept.id(), known)) {
            return Mono.just(false);
        }
        all.remove(known.held.id(), known);
        return removals.remove(known.key);
    }
}
