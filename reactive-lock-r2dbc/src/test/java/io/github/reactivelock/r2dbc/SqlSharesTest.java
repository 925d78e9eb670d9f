package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LossReason;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What may meet at the tables while a lock is shared. Nobody asks twice here, so who is forgotten waits for ever. */
class SqlSharesTest extends SharesFixture {

    private static final Duration SHORT = Duration.ofMillis(300);
    private static final int ROUNDS = 40;

    private final Set<String> told = ConcurrentHashMap.newKeySet();

    /** Hears what it is told, from now on: what was told just before would only be heard by who asks again. */
    @Override
    R2dbcLockBackend process(Databases database) {
        R2dbcLockBackend backend = super.process(database);
        Queue<Signal> signals = new ConcurrentLinkedQueue<>();
        var unused = backend.signals().doOnNext(signals::add).subscribe(this::hear, error -> {});
        Databases.until("pushes arrive", () -> signals.contains(new Signal.Reconnected()));
        return backend;
    }

    private void hear(Signal signal) {
        if (signal instanceof Signal.Grant grant) {
            told.add(grant.claimId());
        }
    }

    private Claim claim(Share share) {
        return claim(share, LONG);
    }

    private void queued(LockBackend by, Claim claim) {
        assertThat(get(by.claim(claim))).isInstanceOf(ClaimResult.Queued.class);
    }

    private void untilTold(Claim claim) {
        Databases.until(claim.share() + " is told", () -> told.contains(claim.id()));
    }

    private void released(LockBackend by, Claim claim) {
        assertThat(get(by.release(claim))).isTrue();
    }

    private static void together(Mono<?> one, Mono<?> other) {
        get(Mono.when(one, other).thenReturn(true));
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void twoReleasesAtOnceLetInWhoNeedsBoth(Databases database) {
        R2dbcLockBackend one = process(database);
        R2dbcLockBackend other = process(database);
        for (int round = 0; round < ROUNDS; round++) {
            Claim first = claim(Share.permits(1, 2));
            Claim second = claim(Share.permits(1, 2));
            Claim both = claim(Share.permits(2, 2));
            granted(one, first);
            granted(other, second);
            queued(one, both);

            together(one.release(first), other.release(second));

            untilTold(both);
            released(one, both);
        }
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aReleaseThatMeetsAJoinForgetsNobody(Databases database) {
        R2dbcLockBackend one = process(database);
        R2dbcLockBackend other = process(database);
        for (int round = 0; round < ROUNDS; round++) {
            Share share = round % 2 == 0 ? Share.permits(2, 2) : Share.WHOLE;
            Claim held = claim(share);
            Claim coming = claim(Share.permits(1, 2));
            granted(one, held);

            together(one.release(held), other.claim(coming).doOnNext(answer -> {
                if (answer instanceof ClaimResult.Granted) {
                    told.add(coming.id());
                }
            }));

            untilTold(coming);
            released(other, coming);
        }
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aWriterThatLeavesWhileAReaderJoinsIsNotWaitedFor(Databases database) {
        R2dbcLockBackend one = process(database);
        R2dbcLockBackend other = process(database);
        Claim reading = claim(Share.ONE);
        granted(one, reading);
        for (int round = 0; round < ROUNDS; round++) {
            Claim writer = claim(Share.WHOLE);
            Claim reader = claim(Share.ONE);
            queued(one, writer);

            together(one.release(writer), other.claim(reader).doOnNext(answer -> {
                if (answer instanceof ClaimResult.Granted) {
                    told.add(reader.id());
                }
            }));

            untilTold(reader);
            released(other, reader);
        }
        released(one, reading);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aWriterThatLeavesLetsThoseOfOtherProcessesIn(Databases database) {
        R2dbcLockBackend one = process(database);
        R2dbcLockBackend other = process(database);
        Claim reading = claim(Share.ONE);
        Claim writer = claim(Share.WHOLE);
        Claim reader = claim(Share.ONE);
        granted(one, reading);
        queued(one, writer);
        queued(other, reader);

        assertThat(get(one.release(writer))).isFalse();

        untilTold(reader);
        released(other, reader);
        released(one, reading);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void oneReleaseLetsInMoreThanOneTransactionServes(Databases database) {
        R2dbcLockBackend one = process(database);
        R2dbcLockBackend other = process(database);
        Claim writing = claim(Share.WHOLE);
        granted(one, writing);
        List<Claim> readers =
                IntStream.range(0, 230).mapToObj(i -> claim(Share.ONE)).toList();
        get(Flux.fromIterable(readers).concatMap(other::claim).then(Mono.just(true)));

        released(one, writing);

        readers.forEach(this::untilTold);
        assertThat(database.select("SELECT count(DISTINCT token) FROM reactive_lock_share"
                        + " WHERE lease_end > (SELECT max(token) FROM reactive_lock)"))
                .isGreaterThanOrEqualTo(230);
        get(Flux.fromIterable(readers).concatMap(other::release).then(Mono.just(true)));
        granted(one, claim(Share.WHOLE));
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void whatADeadOneHeldIsFreeAndDoesNotComeBack(Databases database) {
        R2dbcLockBackend dead = process(database);
        R2dbcLockBackend other = process(database);
        Claim gone = claim(Share.permits(2, 2), SHORT);
        granted(dead, gone);
        Claim writing = claim(Share.WHOLE);
        Databases.until("its lease is over", () -> get(other.claim(writing)) instanceof ClaimResult.Granted);

        RenewalResult answer = get(dead.renew(List.of(gone)));
        assertThat(answer.lost()).containsEntry(gone.id(), LossReason.TAKEN_OVER);
        assertThat(get(dead.release(gone))).isFalse();
        database.execute("UPDATE reactive_lock_share SET lease_end = 9000000000000000 WHERE claim_id = '" + gone.id()
                + "'"); // as a clock that is set back would have it
        released(other, writing);

        Claim next = claim(Share.permits(2, 2));
        granted(other, next);
        assertThat(get(dead.renew(List.of(gone))).lost()).containsEntry(gone.id(), LossReason.EXPIRED);
        released(other, next);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void noClaimForTheWholeComesInWhileAShareIsRenewed(Databases database) {
        R2dbcLockBackend one = process(database);
        R2dbcLockBackend other = process(database);
        Duration lease = Duration.ofSeconds(1);
        Claim kept = claim(Share.ONE, lease);
        granted(one, kept);

        long begin = System.nanoTime();
        for (long now = begin; now - begin < 3 * lease.toNanos(); now = System.nanoTime()) {
            boolean isKept = get(one.renew(List.of(kept))).renewed().contains(kept.id());
            Claim tried = new Claim(key, UUID.randomUUID().toString(), "me", SHORT, Claim.Mode.TRY);
            boolean isIn = get(other.claim(tried)) instanceof ClaimResult.Granted;
            boolean isInTime = System.nanoTime() - now < lease.toNanos();
            assertThat(isIn && isKept && isInTime).isFalse();
        }
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void theCleanerRemovesDeadSharesOnly(Databases database) {
        R2dbcLockBackend one = process(database);
        Claim dead = claim(Share.ONE, SHORT);
        Claim alive = claim(Share.ONE);
        granted(one, dead);
        granted(one, alive);
        String left = "SELECT count(*) FROM reactive_lock_share WHERE claim_id = '%s'";

        Databases.until("it is cleaned", () -> {
            get(one.clean(Duration.ZERO).thenReturn(true));
            return database.select(String.format(left, dead.id())) == 0;
        });

        assertThat(database.select(String.format(left, alive.id()))).isEqualTo(1);
        released(one, alive);
    }
}
