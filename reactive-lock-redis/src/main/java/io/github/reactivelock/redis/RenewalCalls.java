package io.github.reactivelock.redis;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.state.LossReason;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Renews claims of one slot: those for whole locks by their owners' keys, and those that share by more. */
final class RenewalCalls {

    private final RedisConnection connection;
    private final RedisKeyLayout names;
    private final ScriptCalls calls;
    private final RedisBackendOptions options;

    RenewalCalls(RedisConnection connection, RedisKeyLayout names, ScriptCalls calls, RedisBackendOptions options) {
        this.connection = connection;
        this.names = names;
        this.calls = calls;
        this.options = options;
    }

    Mono<RenewalResult> renew(List<Claim> batch) {
        List<Claim> whole =
                batch.stream().filter(claim -> claim.share().isWhole()).toList();
        if (whole.size() == batch.size()) {
            return ask("renew", batch);
        }
        List<Claim> shares =
                batch.stream().filter(claim -> !claim.share().isWhole()).toList();
        return whole.isEmpty()
                ? ask("renew-shares", shares)
                : Flux.concat(ask("renew", whole), ask("renew-shares", shares)).reduce(RenewalCalls::both);
    }

    private Mono<RenewalResult> ask(String verb, List<Claim> claims) {
        List<String> keys = new ArrayList<>(claims.size());
        List<String> args = new ArrayList<>(2 * claims.size() + 1);
        args.add(verb);
        for (Claim claim : claims) {
            args.add(claim.id());
            args.add(ScriptCalls.millis(claim));
            keys.addAll(claim.share().isWhole() ? List.of(names.owner(claim.key())) : names.ofShares(claim.key()));
        }
        Mono<List<Object>> answer = options.replicas() == 0
                ? calls.renew(keys, args)
                : calls.renewAndWait(keys, args, options).doOnNext(this::checkReplicas);
        return answer.onErrorMap(error -> RedisFailure.explain(connection, options.prefix(), error))
                .map(reply -> RedisReplies.renewal(claims, reply));
    }

    private void checkReplicas(List<Object> reply) {
        long have = RedisReplies.last(reply);
        if (have < options.replicas()) {
            throw RedisFailure.replicas(connection, have, options);
        }
    }

    private static RenewalResult both(RenewalResult one, RenewalResult other) {
        Set<String> renewed = new HashSet<>(one.renewed());
        renewed.addAll(other.renewed());
        Map<String, LossReason> lost = new HashMap<>(one.lost());
        lost.putAll(other.lost());
        return new RenewalResult(renewed, lost);
    }
}
