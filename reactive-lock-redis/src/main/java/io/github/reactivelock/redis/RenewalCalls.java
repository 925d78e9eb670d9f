package io.github.reactivelock.redis;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.RenewalResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Renews claims of one slot: those for whole locks by their owners' keys, and those that share by more. */
final class RenewalCalls {

    private final RedisConnection connection;
    private final KeyLayout names;
    private final ScriptCalls calls;
    private final RedisBackendOptions options;

    RenewalCalls(RedisConnection connection, KeyLayout names, ScriptCalls calls, RedisBackendOptions options) {
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
        if (whole.isEmpty()) {
            return ask("renew-shares", shares);
        }
        // One that fails says nothing of the other, unless both do.
        return ask("renew", whole)
                .flatMap(answer -> ask("renew-shares", shares)
                        .map(answer::and)
                        .onErrorResume(
                                error -> !RedisFailure.isPassing(error),
                                error -> Mono.just(answer.and(Renewal.refused(shares, error)))))
                .onErrorResume(
                        error -> !RedisFailure.isPassing(error),
                        error -> ask("renew-shares", shares).map(answer -> answer.and(Renewal.refused(whole, error))));
    }

    /**
     * A key that the user may not touch has the whole call refused, and nothing says which one it is, so the halves are
     * asked by themselves.
     */
    private Mono<RenewalResult> ask(String verb, List<Claim> claims) {
        int half = claims.size() / 2;
        return askTogether(verb, claims)
                .onErrorResume(
                        error -> half > 0 && RedisFailure.isOfOneKey(error),
                        error -> Flux.just(claims.subList(0, half), claims.subList(half, claims.size()))
                                .flatMap(part -> ask(verb, part)
                                        .onErrorResume(
                                                RedisFailure::isOfOneKey,
                                                refusal -> Mono.just(Renewal.refused(part, refusal))))
                                .reduce(RenewalResult::and));
    }

    private Mono<RenewalResult> askTogether(String verb, List<Claim> claims) {
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
        return answer.onErrorMap(error ->
                        RedisFailure.explain(connection, connection.server(keys.get(0)), options.prefix(), error))
                .flatMap(reply -> explained(claims, RedisReplies.renewal(claims, reply)));
    }

    /** With the reasons of what was refused in words for a user. */
    private Mono<RenewalResult> explained(List<Claim> claims, RenewalResult answer) {
        if (answer.refused().isEmpty()) {
            return Mono.just(answer);
        }
        return Flux.fromIterable(claims)
                .filter(claim -> answer.refused().containsKey(claim.id()))
                .flatMap(claim -> calls.reason(
                                names.all(claim.key()),
                                Objects.requireNonNull(answer.refused().get(claim.id())))
                        .map(reason -> Map.entry(claim.id(), reason)))
                .collectMap(Map.Entry::getKey, Map.Entry::getValue)
                .map(reasons -> new RenewalResult(answer.renewed(), answer.lost(), reasons));
    }

    private void checkReplicas(List<Object> reply) {
        long have = RedisReplies.last(reply);
        if (have < options.replicas()) {
            throw RedisFailure.replicas(connection, have, options);
        }
    }
}
