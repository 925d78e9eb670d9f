package io.github.reactivelock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockContext;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.Share;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** How a share ends, what those that are dead hold up, and what one sees of shares. */
abstract class ShareLifeCases extends SharingCases {

    ShareLifeCases(LockBackendContract contract) {
        super(contract);
    }

    @Test
    void aDeadReaderHoldsUpNobodyLongerThanItsLeaseThoughOthersAreRenewed() {
        needs(Feature.SHARES);
        LockClient observer = client();
        LockHandle alive = acquired(client().shared(), key);
        granted(backend(), claim(Share.ONE, Claim.Mode.QUEUE, contract.shortLease()));
        CompletableFuture<LockHandle> writer = queued(client(), observer, 1);
        Await.run(alive.renew());

        Await.until("the dead one is gone", () -> holders(observer, key) == 1);
        assertThat(alive.isHeld()).isTrue();
        assertThat(writer).isNotDone();
        Await.run(alive.release());

        release(writer);
    }

    @Test
    void thePermitsOfADeadProcessComeBackWhenItsLeaseIsOver() {
        needs(Feature.PERMITS);
        granted(backend(), claim(Share.permits(3, 3), Claim.Mode.QUEUE, contract.shortLease()));
        CompletableFuture<LockHandle> next = client().permits(3, 3).acquire(key).toFuture();

        release(next);
    }

    @Test
    void aDeadWriterAtTheHeadLetsTheReadersBehindItIn() {
        needs(Feature.SHARES);
        needs(Feature.ARRIVAL_ORDER);
        LockHandle reading = acquired(client().shared(), key);
        Claim dead = claim(Share.WHOLE, Claim.Mode.QUEUE, contract.shortLease());
        assertThat(ask(backend(), dead)).isInstanceOf(ClaimResult.Queued.class);
        CompletableFuture<LockHandle> reader =
                client().with(renewed()).shared().acquire(key).toFuture();

        LockHandle also = Await.get(reader);

        assertThat(reading.isHeld()).isTrue();
        Await.run(also.release());
        Await.run(reading.release());
    }

    @Test
    void oneQuestionLetsAllReadersBehindADeadWriterIn() {
        needs(Feature.SHARES);
        needs(Feature.ARRIVAL_ORDER);
        LockBackend backend = backend();
        LockClient observer = client();
        Claim reading = claim(Share.ONE);
        granted(backend, reading);
        Claim dead = claim(Share.WHOLE, Claim.Mode.QUEUE, renewedLease());
        assertThat(ask(backend, dead)).isInstanceOf(ClaimResult.Queued.class);
        Claim first = claim(Share.ONE);
        Claim second = claim(Share.ONE);
        assertThat(ask(backend, first)).isInstanceOf(ClaimResult.Queued.class);
        assertThat(ask(backend, second)).isInstanceOf(ClaimResult.Queued.class);

        untilGranted(backend, first);

        if (contract.lacking().contains(Feature.PUSHED_GRANTS)) { // a claim is served when it has asked again
            untilGranted(backend, second);
        }
        assertThat(holders(observer, key)).isEqualTo(3);
        for (Claim each : List.of(reading, first, second)) {
            granted(backend, each); // a client may not have been told yet
            assertThat(release(backend, each)).isTrue();
        }
    }

    @Test
    void aWriterThatGivesUpLetsTheReadersBehindItIn() {
        needs(Feature.SHARES);
        LockClient observer = client();
        LockHandle reading = acquired(client().shared(), key);
        Disposable writer = client().withLock(key, Mono.never()).subscribe();
        untilQueued(observer, key, 1);
        CompletableFuture<LockHandle> one = client().shared().acquire(key).toFuture();
        CompletableFuture<LockHandle> two = client().shared().acquire(key).toFuture();
        untilQueued(observer, key, 3);

        writer.dispose();

        Await.done(one);
        Await.done(two);
        assertThat(reading.isHeld()).isTrue();
        release(one);
        release(two);
        Await.run(reading.release());
    }

    @Test
    void aReleaseSaidAgainFreesNobodyElsesUnits() {
        needs(Feature.PERMITS);
        LockBackend backend = backend();
        Claim one = claim(Share.permits(2, 3));
        Claim other = claim(Share.permits(1, 3));
        long first = granted(backend, one);
        assertThat(granted(backend, one)).as("asked again").isEqualTo(first);
        long second = granted(backend, other);
        assertThat(second).isGreaterThan(first);

        assertThat(release(backend, one)).isTrue();
        assertThat(release(backend, one)).isFalse();
        assertThat(Await.get(backend.renew(List.of(one))).renewed()).isEmpty();

        Claim three = claim(Share.permits(3, 3), Claim.Mode.TRY, LONG);
        assertThat(ask(backend, three)).isInstanceOf(ClaimResult.Busy.class);
        assertThat(release(backend, other)).isTrue();
        assertThat(granted(backend, three)).isGreaterThan(second);
        assertThat(release(backend, three)).isTrue();
    }

    @Test
    void sharesTokensLieBetweenThoseOfWholeHoldsBeforeAndAfter() {
        needs(Feature.SHARES);
        long before = tokenOf(client());
        LockHandle one = acquired(client().shared(), key);
        LockHandle two = acquired(client().shared(), key);
        Await.run(one.release());
        Await.run(two.release());
        long after = tokenOf(client());

        assertThat(List.of(one.fencingToken(), two.fencingToken()))
                .allSatisfy(token -> assertThat(token).isGreaterThan(before).isLessThan(after));
        assertThat(one.fencingToken()).isNotEqualTo(two.fencingToken());
    }

    private long tokenOf(LockClient client) {
        return Await.get(client.withLock(key, held -> Mono.just(held.fencingToken())));
    }

    @Test
    void oneShareIsTakenAwayByForceAndTheOthersStay() {
        needs(Feature.SHARES);
        LockClient operator = client();
        LockHandle stays = acquired(client().shared(), key);
        LockHandle goes = acquired(client().with(renewed()).shared(), key);

        assertThat(Await.get(operator.forceRelease(key, goes.fencingToken()))).isTrue();
        LockLostException loss = Await.get(goes.lost());

        assertThat(loss.fencingToken()).isEqualTo(goes.fencingToken());
        assertThat(Await.get(operator.forceRelease(key, goes.fencingToken()))).isFalse();
        Await.run(stays.renew());
        assertThat(stays.isHeld()).isTrue();
        Await.run(stays.release());
    }

    @Test
    void forceReleaseOfTheKeyTakesAllSharesAway() {
        needs(Feature.SHARES);
        LockClient operator = client();
        LockHandle one = acquired(client().with(renewed()).shared(), key);
        LockHandle two = acquired(client().with(renewed()).shared(), key);

        assertThat(Await.get(operator.forceRelease(key))).isTrue();

        Await.get(one.lost());
        Await.get(two.lost());
        assertThat(isFree(operator, key)).isTrue();
    }

    @Test
    void aShareJoinsBelowTheWholeTheWholeIsRefusedBelowAShare() {
        needs(Feature.SHARES);
        FaultyBackend backend = faulty();
        LockClient client = client(backend);
        LockClient reading = client.shared();

        assertThat(Await.get(client.withLock(key, reading.withLock(key, client.withLock(key, Mono.just("in"))))))
                .isEqualTo("in");
        assertThat(Await.get(reading.withLock(key, reading.withLock(key, Mono.just("in")))))
                .isEqualTo("in");
        assertThat(backend.claims()).as("one for each outermost").hasSize(2);

        for (Mono<?> greater : List.of(
                client.withLock(key, Mono.just("x")),
                client.acquire(key),
                client.tryAcquire(key),
                client.tryWithLock(key, Mono.just("x"), Mono.just("y")))) {
            assertThat(Await.error(reading.withLock(key, greater).toFuture()))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("would wait for itself: ask for the whole first");
        }
        LockHandle held = Await.get(reading.acquire(key).contextWrite(LockContext.owner("me")));
        assertThat(Await.error(client.acquire(key)
                        .contextWrite(LockContext.owner("me"))
                        .toFuture()))
                .isInstanceOf(IllegalStateException.class);
        Await.run(held.release());
    }

    @Test
    void belowPermitsAsManyOrFewerJoinAndMoreAreRefused() {
        needs(Feature.PERMITS);
        LockClient client = client();
        Mono<String> in = Mono.just("in");

        assertThat(Await.get(
                        client.permits(2, 4).withLock(key, client.permits(1, 4).withLock(key, in))))
                .isEqualTo("in");
        assertThat(Await.error(client.permits(2, 4)
                        .withLock(key, client.permits(3, 4).withLock(key, in))
                        .toFuture()))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("ask for 3 of 4 permits first");
    }

    @Test
    void severalKeysAreSharedTogether() {
        needs(Feature.SHARES);
        String second = key("second");
        LockHandle reading = acquired(client().shared(), second);

        String outcome = Await.get(client().shared().withLock(List.of(second, key), Mono.just("in")));

        assertThat(outcome).isEqualTo("in");
        Await.run(reading.release());
    }

    @Test
    void inspectAndListTellHoldersAndUnits() {
        needs(Feature.PERMITS);
        LockClient observer = client();
        LockHandle one = acquired(client().with(DEFAULTS.withOwner("one")).permits(1, 5), key);
        LockHandle two = acquired(client().with(DEFAULTS.withOwner("two")).permits(2, 5), key);

        LockInfo info = Await.get(observer.inspect(key));

        assertThat(info.isHeldBy("one")).isTrue();
        assertThat(info.isHeldBy("two")).isTrue();
        LockInfo.Shares shares =
                Objects.requireNonNull(info.held().orElseThrow().shares(), "shares");
        assertThat(shares.units()).isEqualTo(3);
        assertThat(shares.holders()).isEqualTo(2);
        assertThat(shares.first()).extracting(LockInfo.Holder::owner).containsExactly("two", "one");
        assertThat(shares.first()).extracting(LockInfo.Holder::units).containsExactly(2, 1);
        assertThat(shares.first())
                .extracting(LockInfo.Holder::fencingToken)
                .containsExactly(two.fencingToken(), one.fencingToken());
        if (!contract.lacking().contains(Feature.LISTING)) {
            assertThat(Await.get(observer.list(key).single()).shares()).isNotNull();
        }
        Await.run(one.release());
        Await.run(two.release());
        assertThat(isFree(observer, key)).isTrue();
    }

    @Test
    void eventsTellUnits() {
        needs(Feature.PERMITS);
        LockClient client = client();
        // A store that looks passes over a holder that comes and goes between two looks.
        Sinks.Empty<Void> seen = Sinks.empty();
        CompletableFuture<List<Integer>> units = client.events(key)
                .<Integer>handle((event, sink) -> {
                    if (event instanceof LockEvent.Acquired acquired) {
                        sink.next(acquired.units());
                        seen.tryEmitEmpty().orThrow();
                    } else if (event instanceof LockEvent.Released released) {
                        sink.next(-released.units());
                    } else {
                        var unused = client.permits(2, 5)
                                .withLock(key, seen.asMono())
                                .subscribe();
                    }
                })
                .take(2)
                .collectList()
                .toFuture();

        assertThat(Await.get(units)).containsExactly(2, -2);
    }
}
