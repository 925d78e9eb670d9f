package io.github.reactivelock.vertx;

import static io.github.reactivelock.vertx.Fixture.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockTimeoutException;
import io.github.reactivelock.state.LockInfo;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.ContextInternal;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Who excludes whom, and who shares a hold. */
class ClientExclusionTest extends ClientFixture {

    @Test
    void flowsOnOneEventLoopExcludeOneAnother() {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        Supplier<Future<Void>> work = () -> {
            most.accumulateAndGet(inside.incrementAndGet(), Math::max);
            return pause(5).onComplete(done -> inside.decrementAndGet());
        };
        on(() -> Future.all(Collections.nCopies(20, work).stream()
                .map(each -> lock.withLock("a", each))
                .toList()));
        assertThat(most).hasValue(1);
    }

    @Test
    void theSameKeyBelowIsReentrantAlsoLaterInTheChain() {
        String result = on(() -> lock.withLock(
                "a",
                outer -> pause(5).compose(later -> lock.withLock("b", () -> pause(5)))
                        .compose(later -> lock.withLock("a", inner -> {
                            assertThat(inner.fencingToken()).isEqualTo(outer.fencingToken());
                            return pause(5).map(done -> "nested");
                        }))
                        .eventually(() -> {
                            assertThat(outer.isHeld()).isTrue();
                            return Future.succeededFuture();
                        })));
        assertThat(result).isEqualTo("nested");
        assertThat(get(lock.inspect("a"))).isInstanceOf(LockInfo.Free.class);
    }

    @Test
    void acquireIsReentrantUnderTheLockAndNotElsewhere() {
        VertxLockClient impatient = lock.with(LockOptions.defaults().withWaitTimeout(Duration.ofSeconds(3)));
        Boolean shared = on(() -> lock.withLock(
                "a",
                held -> impatient.acquire("a").compose(again -> again.release().map(done -> held.isHeld()))));
        assertThat(shared).isTrue();

        VertxLockHandle first = get(lock.acquire("a"));
        assertThatThrownBy(() -> on(() -> impatient.acquire("a"))).isInstanceOf(LockTimeoutException.class);
        get(first.release());
    }

    @Test
    void siblingsBelowOneHoldExcludeOneAnother() {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        Supplier<Future<Void>> work = () -> {
            most.accumulateAndGet(inside.incrementAndGet(), Math::max);
            return pause(10).onComplete(done -> inside.decrementAndGet());
        };
        on(() -> lock.withLock(
                "a", () -> Future.all(lock.withLock("b", work), lock.withLock("b", work), lock.withLock("b", work))));
        assertThat(most).hasValue(1);
    }

    @Test
    void theCallersContextDoesNotGetTheHold() {
        VertxLockClient impatient = lock.with(LockOptions.defaults().withWaitTimeout(Duration.ofSeconds(3)));
        Promise<Void> finish = Promise.promise();
        Future<Void> outer = on(() -> Future.succeededFuture(lock.withLock("a", () -> finish.future())));

        assertThatThrownBy(() -> on(() -> impatient.withLock("a", () -> Future.succeededFuture())))
                .isInstanceOf(LockTimeoutException.class);
        finish.complete();
        get(outer);
    }

    @Test
    void aFlowThatOutlivesItsHoldAcquiresAnew() {
        Context below = on(() -> lock.withLock("a", () -> Future.succeededFuture(Vertx.currentContext())));
        assertThat(((ContextInternal) below).isDuplicate()).isTrue();
        VertxLockHandle other = get(lock.acquire("a"));
        VertxLockClient impatient = lock.with(LockOptions.defaults().withWaitTimeout(Duration.ofSeconds(3)));

        assertThatThrownBy(() -> on(below, () -> impatient.withLock("a", () -> Future.succeededFuture())))
                .isInstanceOf(LockTimeoutException.class);
        get(other.release());
    }

    @Test
    void severalLocksAreHeldTogetherAndReleasedTogether() {
        List<String> keys = on(() -> lock.withLock(List.of("b", "a", "b"), held -> {
            assertThat(held).allMatch(VertxLockHandle::isHeld);
            return Future.all(lock.inspect("a"), lock.inspect("b")).map(both -> {
                assertThat(both.<LockInfo>list()).allMatch(LockInfo.Held.class::isInstance);
                return held.stream().map(VertxLockHandle::key).toList();
            });
        }));

        assertThat(keys).containsExactly("a", "b");
        assertThat(get(lock.inspect("a"))).isInstanceOf(LockInfo.Free.class);
        assertThat(get(lock.inspect("b"))).isInstanceOf(LockInfo.Free.class);
    }

    @Test
    void eachOfSeveralKeysIsReentrantBelowThem() {
        Integer result = on(() -> lock.withLock(
                List.of("a", "b"),
                () -> lock.withLock("b", () -> lock.withLock("a", () -> Future.succeededFuture(7)))));
        assertThat(result).isEqualTo(7);
    }

    @Test
    void callersWithTheSameKeysInAnotherOrderDoNotDeadlock() {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        Supplier<Future<Void>> work = () -> {
            most.accumulateAndGet(inside.incrementAndGet(), Math::max);
            return pause(5).onComplete(done -> inside.decrementAndGet());
        };
        VertxLockClient other = fixture.client();
        on(() -> Future.all(java.util.stream.IntStream.range(0, 10)
                .mapToObj(i ->
                        i % 2 == 0 ? lock.withLock(List.of("a", "b"), work) : other.withLock(List.of("b", "a"), work))
                .toList()));
        assertThat(most).hasValue(1);
    }

    @Test
    void ofSeveralKeysNoneIsKeptWhenOneIsNotGotInTime() {
        VertxLockHandle held = get(lock.acquire("b"));
        // In which a busy machine, too, gets the first one.
        VertxLockClient impatient = lock.with(LockOptions.defaults().withWaitTimeout(Duration.ofSeconds(4)));

        assertThatThrownBy(() -> get(impatient.withLock(List.of("a", "b"), () -> Future.succeededFuture())))
                .isInstanceOf(LockTimeoutException.class);

        get(lock.withLock("a", () -> Future.succeededFuture()));
        get(held.release());
        assertThatIllegalArgumentException().isThrownBy(() -> lock.withLock(List.of(), () -> Future.succeededFuture()));
    }
}
