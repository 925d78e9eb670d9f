package io.github.reactivelock.reliability;

import static io.github.reactivelock.reliability.Lab.LEASE;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.reliability.Lab.Holding;
import io.github.reactivelock.reliability.Lab.Person;
import io.github.reactivelock.spi.LossReason;
import io.github.reactivelock.testkit.TcpProxy;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.scheduler.Schedulers;

/** What a client of Redis through Lettuce sees when the network between them breaks. */
class ConnectionFaultTest {

    private final Lab lab = new Lab();
    private final TcpProxy proxy = lab.proxy();
    private final Person near = lab.person();
    private final Person far = lab.person(proxy);

    @AfterEach
    void close() {
        lab.close();
    }

    private void broken(Runnable fault, Duration time) {
        lab.faults.faultBegan("network");
        fault.run();
        Lab.pass(time);
        proxy.mend();
        lab.faults.faultEnded("network");
    }

    @Test
    void aCutMendedBeforeTheDeadlineCostsNeitherTheHoldNorThePlaceInTheQueue() {
        Holding first = far.hold("held");
        long token = first.held().fencingToken();
        Holding before = near.hold("queued");
        assertThat(before.held().isHeld()).isTrue();
        Holding second = far.hold("queued");
        lab.untilWaiting("queued", 1);
        Holding third = lab.person().hold("queued");
        lab.untilWaiting("queued", 2);

        broken(proxy::cut, LEASE.dividedBy(6));
        Lab.pass(LEASE);

        assertThat(first.held().isHeld()).isTrue();
        assertThat(first.held().fencingToken()).isEqualTo(token);
        first.release();
        before.release();
        assertThat(second.held().isHeld()).isTrue();
        assertThat(third.granted).isNotDone();
        second.release();
        third.held();
        third.release();
        lab.report().verify();
    }

    @ParameterizedTest
    @ValueSource(strings = {"cut", "silent"})
    void aLossPastTheDeadlineIsToldBeforeTheLeaseCanHaveRunOutAndEndsTheWork(String how) {
        // So early that it is before the store's end also where timers are late.
        Holding holding = lab.person("redis://127.0.0.1:" + proxy.port(), 0.3).hold("a");
        AtomicReference<Object> keysAtTheLoss = new AtomicReference<>();
        CompletableFuture<LockLostException> lost = holding.held()
                .lost()
                .publishOn(Schedulers.boundedElastic())
                .doOnNext(loss -> keysAtTheLoss.set(lab.server.command("EXISTS", "{reactivelock:a}")))
                .toFuture();
        Holding next = near.hold("a");

        broken(how.equals("cut") ? proxy::cut : proxy::freeze, LEASE.plusSeconds(1));

        assertThat(Lab.get(lost).reason()).isEqualTo(LossReason.UNREACHABLE);
        assertThat(keysAtTheLoss).hasValue(1L);
        assertThat(Lab.error(holding.ended)).isInstanceOf(LockLostException.class);
        assertThat(next.held().fencingToken()).isGreaterThan(holding.held().fencingToken());
        next.release();
        lab.report().verify();
    }

    @Test
    void aPushConnectionKilledAtTheVeryMomentOfAReleaseDelaysTheWaiterByLessThanTwoSeconds() {
        for (int i = 0; i < 5; i++) {
            Holding holding = far.hold("a");
            holding.held();
            Holding waiting = near.hold("a");
            lab.untilWaiting("a", 1);

            lab.server.command("CLIENT", "KILL", "TYPE", "pubsub");
            holding.release();

            waiting.held();
            waiting.release();
        }
        lab.report().verify();
    }

    @Test
    void anAnswerLostAfterTheStoreActedIsOneHoldThatOneReleaseFreesOrNone() {
        far.hold("warm").release();
        lab.faults.faultBegan("answers dropped");
        proxy.dropReplies();
        Holding holding = far.hold("a");
        Lab.eventually(
                "the store has acted", () -> Long.valueOf(1).equals(lab.server.command("EXISTS", "{reactivelock:a}")));

        proxy.mend();
        lab.faults.faultEnded("answers dropped");

        // A reset while the first question is on its way may end the attempt; it must not end in a hold as well.
        Lab.eventually("there is an outcome", holding.granted::isDone);
        if (!holding.granted.isCompletedExceptionally()) {
            assertThat(holding.held().isHeld()).isTrue();
            holding.release();
            assertThat(lab.isFree("a")).isTrue();
        }
        Holding next = near.hold("a");
        next.held();
        next.release();
        lab.report().verify();
    }

    @Test
    void anAnswerLostForGoodLeavesNothingBehind() {
        far.hold("warm").release();
        lab.faults.faultBegan("answers dropped");
        proxy.dropReplies();

        assertThat(Lab.error(far.hold("a").ended)).isInstanceOf(LockUnavailableException.class);
        proxy.mend();
        lab.faults.faultEnded("answers dropped");

        Holding next = near.hold("a");
        next.held();
        next.release();
        lab.report().verify();
    }

    @Test
    void aReleaseWhoseAnswerIsLostFreesTheLockOnce() {
        Holding holding = far.hold("a");
        holding.held();
        Holding next = near.hold("a");
        lab.untilWaiting("a", 1);

        proxy.dropReplies();
        holding.release();
        next.held();
        proxy.mend();
        Lab.pass(LEASE.dividedBy(2));

        assertThat(next.held().isHeld()).isTrue();
        next.held().renew().block(Lab.LIMIT);
        next.release();
        lab.report().verify();
    }
}
