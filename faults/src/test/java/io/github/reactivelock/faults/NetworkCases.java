package io.github.reactivelock.faults;

import static io.github.reactivelock.faults.Lab.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.faults.Lab.Holding;
import io.github.reactivelock.faults.Lab.Person;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.testservers.Pause;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The rows of the fault matrix about the network between one client and a store that is well. */
interface NetworkCases {

    /** The lab of the row that runs. */
    Lab lab();

    @Test
    default void aCutMendedBeforeTheDeadlineCostsNeitherHoldNorPlace() {
        Way way = lab().way();
        Person far = lab().person(way, lab().store.longLease());
        Person near = lab().person(lab().store.longLease());
        Holding first = far.hold("held");
        long token = first.held().fencingToken();
        Holding before = near.hold("queued");
        assertThat(before.held().isHeld()).isTrue();
        Holding second = far.hold("queued");
        lab().untilWaiting("queued", 1);
        Holding third = lab().person(lab().store.longLease()).hold("queued");
        lab().untilWaiting("queued", 2);

        lab().broken(way::cut, lab().store.lease().dividedBy(6), way::mend);

        first.untilRenewed();
        Lab.eventually("both can be told", () -> lab().store.canTellAll("queued"));
        assertThat(first.held().fencingToken()).isEqualTo(token);
        first.release();
        before.release();
        assertThat(second.held().isHeld()).isTrue();
        assertThat(third.granted).isNotDone();
        second.release();
        third.held();
        third.release();
        lab().report().verify();
    }

    /** One client is cut off, the other one's connections stay open and silent. */
    @Test
    default void aLossIsReportedBeforeTheLeaseRunsOutAndEndsTheWork() {
        Map<String, Way> ways = Map.of("cut", lab().way(), "silent", lab().way());
        Map<String, Holding> holdings = new ConcurrentHashMap<>();
        Map<String, CompletableFuture<LockLostException>> losses = new ConcurrentHashMap<>();
        Map<String, LockInfo> seenAtTheLoss = new ConcurrentHashMap<>();
        Map<String, Holding> next = new ConcurrentHashMap<>();
        Person near = lab().person(lab().store.longLease());
        ways.forEach((key, way) -> {
            Holding holding = lab().toBeCutOff(way).hold(key);
            holdings.put(key, holding);
            losses.put(
                    key,
                    holding.held()
                            .lost()
                            .publishOn(Schedulers.boundedElastic())
                            .doOnNext(loss -> seenAtTheLoss.put(key, lab().look(key)))
                            .toFuture());
            next.put(key, near.hold(key));
            lab().untilWaiting(key, 1);
        });

        lab().faults.faultBegan("network");
        ways.get("cut").cut();
        ways.get("silent").freeze();
        next.values().forEach(Holding::held);
        ways.values().forEach(Way::mend);
        lab().faults.faultEnded("network");

        ways.keySet().forEach(key -> {
            Holding holding = holdings.get(key);
            assertThat(Lab.get(losses.get(key)).reason()).as(key).isIn(lab().lossesOfSilence());
            assertThat(seenAtTheLoss.get(key))
                    .isInstanceOfSatisfying(
                            LockInfo.Held.class,
                            held -> assertThat(held.fencingToken())
                                    .as(key)
                                    .isEqualTo(holding.held().fencingToken()));
            assertThat(Lab.error(holding.ended)).isInstanceOf(LockLostException.class);
            assertThat(next.get(key).held().fencingToken())
                    .isGreaterThan(holding.held().fencingToken());
            next.get(key).release();
        });
        lab().report().verify();
    }

    @Test
    default void pushesBrokenDuringAReleaseDelayTheWaiterUntilItReconnects() {
        Way way = lab().way();
        Person far = lab().person(way);
        Person near = lab().person(lab().store.longLease());
        for (int i = 0; i < 5; i++) {
            Holding holding = near.hold("a");
            holding.held();
            Holding waiting = far.hold("a");
            lab().untilWaiting("a", 1);

            lab().store.breakPushes(way);
            holding.release();

            waiting.held();
            waiting.release();
        }
        lab().report().verify();
    }

    @Test
    default void anAnswerLostAfterTheActIsOneHoldOrNone() {
        Way way = lab().way();
        Person far = lab().person(way);
        far.hold("a").release();
        BooleanSupplier acted = lab().store.acts("a", lab());
        lab().faults.faultBegan("answers dropped");
        way.dropReplies();
        Holding holding = far.hold("a");
        Lab.eventually("the store has acted", acted);
        way.mend();
        lab().faults.faultEnded("answers dropped");

        // A reset while the first question is on its way may end the attempt; it must not end in a hold as well.
        Lab.eventually("there is an outcome", holding.granted::isDone);
        if (!holding.granted.isCompletedExceptionally()) {
            assertThat(holding.held().isHeld()).isTrue();
            holding.release();
            Lab.eventually("one release frees it", () -> lab().isFree("a"));
        }
        lab().assertCanBeHad("a");
        lab().report().verify();
    }

    @Test
    default void anAnswerLostForGoodLeavesNothingBehind() {
        Way way = lab().way();
        Person far = lab().person(way);
        far.hold("a").release();
        lab().faults.faultBegan("answers dropped");
        way.dropReplies();

        assertThat(Lab.error(far.hold("a").ended)).isInstanceOf(LockUnavailableException.class);
        way.mend();
        lab().faults.faultEnded("answers dropped");

        lab().assertCanBeHad("a");
        lab().report().verify();
    }

    @Test
    default void aReleaseWhoseAnswerIsLostFreesTheLockOnce() {
        Way way = lab().way();
        Holding holding = lab().person(way).hold("a");
        holding.held();
        Holding next = lab().person(lab().store.longLease()).hold("a");
        lab().untilWaiting("a", 1);

        if (!lab().store.releasesInOneMessage()) {
            lab().faults.faultBegan("answers dropped");
        }
        way.dropReplies();
        holding.release();
        if (!lab().store.releasesInOneMessage()) {
            way.mend();
            lab().faults.faultEnded("answers dropped");
        }
        next.held();
        way.mend();

        // By then the release was repeated, and it was not the next one's.
        next.untilRenewed();
        next.held().renew().block(LIMIT);
        next.release();
        lab().report().verify();
    }

    /** Nothing is closed, so that only silence shows it, and TCP would go on for a quarter of an hour. */
    @Test
    default void aForgottenConnectionCostsNeitherTheHoldNorThePlaceInTheQueue() {
        Way way = lab().way();
        Person far = lab().person(way, lab().store.longLease());
        Person near = lab().person(lab().store.longLease());
        Holding first = far.hold("held");
        long token = first.held().fencingToken();
        Holding before = near.hold("queued");
        assertThat(before.held().isHeld()).isTrue();
        Holding second = far.hold("queued");
        lab().untilWaiting("queued", 1);
        first.untilRenewed();

        lab().faults.faultBegan("forgotten");
        lab().store.forget(way);
        lab().faults.faultEnded("forgotten");
        before.release();

        assertThat(second.held().isHeld()).isTrue();
        second.release();
        lab().untilServed(far, "new");
        first.untilRenewed();
        assertThat(first.held().fencingToken()).isEqualTo(token);
        first.release();
        lab().report().verify();
    }

    /** The store believes that it can tell the waiter, and gives it the lock, of which the waiter learns too late. */
    @Test
    default void aWaiterWhosePushesAreForgottenDoesNotHoldUpTheOthers() {
        Way way = lab().way();
        assertServedLikeTheOthers(way, () -> lab().store.forgetPushes(way));
    }

    /** The store knows that it cannot tell the waiter, and passes it over where there are others. */
    @Test
    default void aWaiterWhosePushesEndedAtTheStoreIsServedInTheEnd() {
        Way way = lab().way();
        assertServedLikeTheOthers(way, () -> {
            lab().store.forgetPushes(way);
            way.endForgottenAtTheServers();
        });
    }

    private void assertServedLikeTheOthers(Way way, Runnable fault) {
        Person far = lab().person(way);
        List<Person> near = List.of(lab().person(), lab().person());
        Holding before = near.get(0).hold("a");
        before.held();
        Holding waiting = far.hold("a"); // from now on it has what pushes come over
        lab().untilWaiting("a", 1);
        before.release();
        waiting.held();
        waiting.release();
        AtomicBoolean enough = new AtomicBoolean();
        lab().faults.faultBegan("forgotten");
        List<CompletableFuture<Void>> rivals = near.stream()
                .map(rival -> Mono.defer(() -> rival.history().withLock(rival.lock(), "a", NetworkCases::shortly))
                        .repeat(() -> !enough.get())
                        .then()
                        .toFuture())
                .toList();
        lab().untilServed(far, "a");

        fault.run();

        AtomicInteger inARow = new AtomicInteger();
        Pause.until("it is served as soon as the others, five times in a row", Duration.ofMinutes(3), () -> {
            long asked = System.nanoTime();
            lab().untilServed(far, "a");
            return System.nanoTime() - asked > 1_000_000_000 ? inARow.getAndSet(0) < 0 : inARow.incrementAndGet() == 5;
        });
        enough.set(true);
        rivals.forEach(rival -> {
            Object unused = Lab.get(rival);
        });
        lab().faults.faultEnded("forgotten");
        lab().report().verify();
    }

    private static Mono<Void> shortly(LockHandle held) {
        return Mono.delay(Duration.ofMillis(20)).then();
    }
}
