package io.github.reactivelock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The rule of shares: the first in the queue is granted as soon as it fits, and no other claim overtakes it. */
abstract class ShareCases extends SharingCases {

    private static final List<Share> OF_A_READ_WRITE_LOCK = List.of(Share.WHOLE, Share.ONE, Share.ONE, Share.ONE);
    private static final List<Share> OF_A_SEMAPHORE =
            List.of(Share.WHOLE, Share.permits(1, 4), Share.permits(2, 4), Share.permits(3, 4), Share.permits(4, 4));

    ShareCases(LockBackendContract contract) {
        super(contract);
    }

    @Test
    void aClientRefusesWithASentenceWhatItsStoreDoesNotSupport() {
        LockBackend backend = backend();
        boolean shares = !contract.lacking().contains(Feature.SHARES);
        boolean permits = !contract.lacking().contains(Feature.PERMITS);

        assertThat(backend.supports(Share.WHOLE)).isTrue();
        assertThat(backend.supports(Share.ONE)).isEqualTo(shares);
        assertThat(backend.supports(Share.permits(2, 5))).isEqualTo(permits);

        LockClient client = client();
        if (!shares) {
            assertThatThrownBy(client::shared)
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining(";");
        }
        if (!permits) {
            assertThatThrownBy(() -> client.permits(2, 5))
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining(";");
        }
    }

    @Test
    void readersAreInTogetherAndAWriterIsNot() {
        needs(Feature.SHARES);
        LockClient one = client();
        LockClient two = client();
        LockHandle first = acquired(one.shared(), key);
        LockHandle second = Await.get(two.shared().tryAcquire(key));

        assertThat(Await.isEmpty(one.tryAcquire(key))).isTrue();
        assertThat(Await.isEmpty(two.tryAcquire(key))).isTrue();

        Await.run(first.release());
        assertThat(Await.isEmpty(one.tryAcquire(key))).as("one reader is left").isTrue();
        Await.run(second.release());
        LockHandle whole = Await.get(one.tryAcquire(key));
        assertThat(Await.isEmpty(two.shared().tryAcquire(key))).isTrue();
        Await.run(whole.release());
    }

    @Test
    void aWriterThatWaitsIsNotOvertakenByReaders() {
        needs(Feature.SHARES);
        needs(Feature.ARRIVAL_ORDER);
        LockClient observer = client();
        LockClient readers = client().shared();
        LockHandle first = acquired(readers, key);
        LockHandle second = acquired(client().shared(), key);
        CompletableFuture<LockHandle> writer = queued(client(), observer, 1);
        CompletableFuture<LockHandle> late = queued(client().shared(), observer, 2);

        assertThat(Await.isEmpty(client().shared().tryAcquire(key))).isTrue();
        Await.run(first.release());
        assertThat(writer).isNotDone();
        Await.run(second.release());

        LockHandle writing = Await.get(writer);
        assertThat(late).isNotDone();
        Await.run(writing.release());
        release(late);
    }

    @Test
    void readersThatWaitBehindEachOtherGoInTogether() {
        needs(Feature.SHARES);
        LockClient observer = client();
        LockHandle writing = acquired(client(), key);
        List<CompletableFuture<LockHandle>> readers = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            readers.add(queued(client().shared(), observer, i + 1));
        }
        CompletableFuture<LockHandle> writer = queued(client(), observer, 6);

        Await.run(writing.release());
        readers.forEach(Await::get);

        assertThat(writer).isNotDone();
        readers.forEach(SharingCases::release);
        release(writer);
    }

    @Test
    void aSemaphoreHasAsManyPermitsAsItsClaimsSayAndNoMore() {
        needs(Feature.PERMITS);
        AtomicInteger in = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        List<LockClient> clients =
                IntStream.range(0, 3).mapToObj(i -> client().permits(1, 4)).toList();
        Mono<Long> call = Mono.fromRunnable(() -> most.accumulateAndGet(in.incrementAndGet(), Math::max))
                .then(Mono.delay(Duration.ofMillis(5)))
                .doOnNext(tick -> in.decrementAndGet());

        Await.run(Flux.range(0, 60)
                .flatMap(i -> clients.get(i % 3).withLock(key, call), 60)
                .then());

        assertThat(most).hasValueLessThanOrEqualTo(4);
        assertThat(in).hasValue(0);
    }

    @Test
    void allPermitsAreGivenAndOneMoreIsNot() {
        needs(Feature.PERMITS);
        List<LockHandle> held = IntStream.range(0, 4)
                .mapToObj(i -> Await.get(client().permits(1, 4).tryAcquire(key)))
                .toList();

        assertThat(Await.isEmpty(client().permits(1, 4).tryAcquire(key))).isTrue();
        held.forEach(each -> Await.run(each.release()));
    }

    @Test
    void aRequestForManyPermitsIsNotOvertakenByThoseForFew() {
        needs(Feature.PERMITS);
        needs(Feature.ARRIVAL_ORDER);
        LockClient observer = client();
        LockHandle one = acquired(client().permits(1, 3), key);
        CompletableFuture<LockHandle> all = queued(client().permits(3, 3), observer, 1);
        CompletableFuture<LockHandle> few = queued(client().permits(1, 3), observer, 2);
        assertThat(few).isNotDone();

        Await.run(one.release());

        LockHandle had = Await.get(all);
        assertThat(few).isNotDone();
        Await.run(had.release());
        release(few);
    }

    @Test
    void theWholeDrainsASemaphore() {
        needs(Feature.PERMITS);
        LockClient observer = client();
        LockHandle one = acquired(client().permits(1, 3), key);
        LockHandle two = acquired(client().permits(2, 3), key);
        CompletableFuture<LockHandle> whole = queued(client(), observer, 1);

        Await.run(one.release());
        assertThat(whole).isNotDone();
        Await.run(two.release());

        release(whole);
    }

    @Test
    void eachClaimIsServedByItsOwnCapacity() {
        needs(Feature.PERMITS);
        LockHandle one = acquired(client().permits(1, 2), key);
        LockHandle two = acquired(client().permits(1, 2), key);

        assertThat(Await.isEmpty(client().permits(1, 2).tryAcquire(key))).isTrue();
        LockHandle three = Await.get(client().permits(1, 3).tryAcquire(key));

        for (LockHandle each : List.of(one, two, three)) {
            Await.run(each.release());
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void randomStepsOfClaimsAreGrantedAsTheRuleSays(long seed) {
        needs(Feature.SHARES);
        needs(Feature.ARRIVAL_ORDER);
        boolean semaphore = seed % 2 == 0 && !contract.lacking().contains(Feature.PERMITS);
        List<Share> shapes = semaphore ? OF_A_SEMAPHORE : OF_A_READ_WRITE_LOCK;
        LockBackend backend = backend();
        ShareModel model = new ShareModel();
        Random random = new Random(seed);
        for (int step = 0; step < contract.shareSteps(); step++) {
            int dice = random.nextInt(100);
            if (dice < 45) {
                Claim.Mode mode = random.nextInt(5) == 0 ? Claim.Mode.TRY : Claim.Mode.QUEUE;
                Claim asked = claim(shapes.get(random.nextInt(shapes.size())), mode, LONG);
                come(backend, model, asked);
            } else if (dice < 85 && !model.held.isEmpty()) {
                end(backend, model, any(random, List.copyOf(model.held.values())));
            } else if (dice < 93 && !model.waiting.isEmpty()) {
                end(backend, model, any(random, model.waiting));
            } else if (!model.held.isEmpty()) {
                Claim kept = any(random, List.copyOf(model.held.values()));
                assertThat(Await.get(backend.renew(List.of(kept))).renewed()).containsExactly(kept.id());
                granted(backend, kept);
            }
        }
        while (!model.held.isEmpty()) {
            end(backend, model, any(random, List.copyOf(model.held.values())));
        }
        assertThat(model.waiting).isEmpty();
    }

    private static void come(LockBackend backend, ShareModel model, Claim asked) {
        ClaimResult answer = ask(backend, asked);
        if (model.ask(asked)) {
            assertThat(answer).isInstanceOf(ClaimResult.Granted.class);
        } else if (asked.mode() == Claim.Mode.TRY) {
            assertThat(answer).isInstanceOf(ClaimResult.Busy.class);
            model.waiting.remove(asked);
        } else {
            assertThat(answer).isInstanceOf(ClaimResult.Queued.class);
        }
    }

    private static void end(LockBackend backend, ShareModel model, Claim ended) {
        boolean had = model.held.containsKey(ended.id());
        assertThat(release(backend, ended)).isEqualTo(had);
        assertThat(release(backend, ended)).as("said again").isFalse();
        model.end(ended).forEach(served -> untilGranted(backend, served));
        if (!model.waiting.isEmpty()) {
            Claim first = model.waiting.get(0);
            assertThat(ask(backend, first)).as("it does not fit").isInstanceOf(ClaimResult.Queued.class);
        }
    }

    private static Claim any(Random random, List<Claim> claims) {
        return claims.get(random.nextInt(claims.size()));
    }

    @Test
    void aShareKeptForItsMinimumKeepsWritersOutAndLetsReadersIn() {
        needs(Feature.SHARES);
        Duration least = Duration.ofSeconds(2);
        LockClient observer = client();
        long before = System.nanoTime();
        Await.run(client().with(DEFAULTS.withMinHold(least)).shared().withLock(key, Mono.just("done")));
        LockHandle reader = acquired(client().shared(), key);
        long in = holders(observer, key);
        boolean wasEarly = System.nanoTime() - before < least.toNanos();
        Await.run(reader.release());

        release(client().acquire(key).toFuture());

        assertThat(System.nanoTime() - before).isGreaterThanOrEqualTo(least.toNanos());
        assertThat(in == 2 || !wasEarly).isTrue();
    }

    /** As a store sees it. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aLateCommandForAShareThatPassedItsUnitsChangesNothing(boolean isAlone) {
        needs(Feature.PERMITS);
        LockBackend store = backend();
        Claim held = claim(Share.permits(1, 2));
        Claim kept = claim(Share.permits(1, 2));
        Claim beside = claim(Share.permits(1, 2));
        granted(store, held);
        if (!isAlone) {
            granted(store, beside);
        }

        assertThat(Await.get(store.keep(held, kept))).isTrue();
        assertThat(Await.get(store.keep(held, kept))).as("said again").isTrue();
        assertThat(release(store, held)).isFalse();
        assertThat(Await.get(store.renew(List.of(held))).renewed()).isEmpty();
        granted(store, beside);
        assertThat(ask(store, claim(Share.permits(1, 2), Claim.Mode.TRY, LONG))).isInstanceOf(ClaimResult.Busy.class);

        assertThat(release(store, kept)).isTrue();
        assertThat(Await.get(store.keep(held, kept))).isFalse();
        assertThat(release(store, beside)).isTrue();
    }
}
