package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** What is told of a lock was so at one moment, because one statement says it. */
class LookingTest extends EachDatabase {

    private static final Duration LEASE = Duration.ofMinutes(2);

    private static Claim claim(String key, Share share) {
        return new Claim(
                key, UUID.randomUUID().toString(), "me", LEASE, Claim.Mode.QUEUE, Claim.Keeping.RENEWED, share);
    }

    private static <T> T get(Mono<T> answer) {
        return answer.block(Databases.LIMIT);
    }

    private static long granted(R2dbcLockBackend backend, Claim claim) {
        return ((ClaimResult.Granted) get(backend.claim(claim))).fencingToken();
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aLookAtASharedLockIsOneStatement(Databases database) {
        Tapped tapped = Tapped.of(database.factory());
        R2dbcLockBackend backend = R2dbcLockBackend.connect(tapped, Databases.PATIENT.withoutNotifications());
        List<Claim> holders = IntStream.rangeClosed(1, 3)
                .mapToObj(units -> claim("looked at", Share.permits(units, 6)))
                .toList();
        List<Long> tokens = new ArrayList<>();
        holders.forEach(holder -> tokens.add(granted(backend, holder)));
        Claim first = claim("looked at", Share.WHOLE);
        Claim second = claim("looked at", Share.WHOLE);
        assertThat(get(backend.claim(first))).isInstanceOf(ClaimResult.Queued.class);
        assertThat(get(backend.claim(second))).isInstanceOf(ClaimResult.Queued.class);
        tapped.statements().clear();

        LockInfo.Held held = get(backend.inspect("looked at")).held().orElseThrow();

        assertThat(tapped.statements())
                .filteredOn(text -> !text.contains(", claim_id, token FROM")) // that looks for grants
                .hasSize(1);
        assertThat(held.shares().units()).isEqualTo(6);
        assertThat(held.shares().holders()).isEqualTo(3);
        assertThat(held.shares().first())
                .extracting(LockInfo.Holder::fencingToken)
                .containsExactly(tokens.get(2), tokens.get(1), tokens.get(0));
        assertThat(held.shares().first()).extracting(LockInfo.Holder::units).containsExactly(3, 2, 1);
        assertThat(held.waiters()).isEqualTo(2);
        assertThat(held.queue()).hasSize(2);
        Flux.concat(Flux.just(first, second), Flux.fromIterable(holders))
                .concatMap(backend::release)
                .then()
                .block(Databases.LIMIT);
        assertThat(get(backend.inspect("looked at")).isFree()).isTrue();
        get(backend.close());
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void whetherAGrantIsInForceIsOneStatementHoweverManyShare(Databases database) {
        Tapped tapped = Tapped.of(database.factory());
        R2dbcLockBackend backend = R2dbcLockBackend.connect(tapped, Databases.PATIENT.withoutNotifications());
        List<Claim> holders = IntStream.range(0, LockInfo.Held.MOST_SHOWN + 5)
                .mapToObj(i -> claim("asked about", Share.permits(1, 1_000)))
                .toList();
        List<Long> tokens = new ArrayList<>();
        holders.forEach(holder -> tokens.add(granted(backend, holder)));
        tapped.statements().clear();

        assertThat(get(backend.isCurrent("asked about", tokens.get(0)))).isTrue();
        assertThat(tapped.statements()).hasSize(1);
        assertThat(get(backend.release(holders.get(0)))).isTrue();
        assertThat(get(backend.isCurrent("asked about", tokens.get(0)))).isFalse();
        assertThat(get(backend.isCurrent("asked about", tokens.get(1)))).isTrue();
        assertThat(get(backend.isCurrent("never used", tokens.get(1)))).isFalse();

        Claim whole = claim("asked about a whole", Share.WHOLE);
        long token = granted(backend, whole);
        assertThat(get(backend.isCurrent("asked about a whole", token))).isTrue();
        assertThat(get(backend.isCurrent("asked about a whole", tokens.get(1)))).isFalse();
        assertThat(get(backend.release(whole))).isTrue();
        assertThat(get(backend.isCurrent("asked about a whole", token))).isFalse();
        Flux.fromIterable(holders.subList(1, holders.size()))
                .concatMap(backend::release)
                .then()
                .block(Databases.LIMIT);
        get(backend.close());
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void looksAreWholeWhileSharesComeAndGo(Databases database) {
        R2dbcLockBackend looking = database.backend();
        R2dbcLockBackend sharing = database.backend();
        Disposable coming = Flux.range(0, 4)
                .flatMap(flow -> Mono.defer(() -> {
                            Claim share = claim("in motion", Share.permits(1, 100));
                            return sharing.claim(share).then(sharing.release(share));
                        })
                        .repeat())
                .subscribeOn(Schedulers.boundedElastic())
                .subscribe(released -> {}, error -> {});

        for (int look = 0; look < 500; look++) {
            LockInfo.Shares shares = get(looking.inspect("in motion"))
                    .held()
                    .map(LockInfo.Held::shares)
                    .orElse(null);
            if (shares != null) {
                assertThat(shares.first()).hasSize(Math.toIntExact(shares.holders()));
                assertThat(shares.first().stream()
                                .mapToInt(LockInfo.Holder::units)
                                .sum())
                        .isEqualTo(shares.units());
            }
        }
        coming.dispose();
        get(looking.close().then(sharing.close()));
    }
}
