package io.github.reactivelock.faults;

import static io.github.reactivelock.faults.Lab.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockLostException;
import io.github.reactivelock.faults.Lab.Holding;
import io.github.reactivelock.faults.Lab.Person;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import reactor.core.scheduler.Schedulers;

/** The rows of the fault matrix for stores that keep shares; one more is in {@link RestartCases}. */
interface SharedCases {

    /** The lab of the row that runs. */
    Lab lab();

    @Test
    default void aKilledReaderDelaysAWriterForItsLeaseAndReadersKeepTheirs() {
        try (Processes two = new Processes(lab().store)) {
            ClientProcess dying = two.holder();
            ClientProcess writer = two.waiter();
            dying.say("read 1 a " + Processes.FOR_LONG);
            long dead = two.granted(dying, "1");
            Holding staying = lab().person(lab().store.longLease()).reader().hold("a");
            long alive = staying.held().fencingToken();
            writer.say("hold 2 a 0");
            lab().untilWaiting("a", 1);
            assertThat(lab().tokensInside("a")).containsExactlyInAnyOrder(dead, alive);

            lab().faults.killed(dying.name());
            dying.kill();
            long killed = System.nanoTime();
            Lab.eventually("it is out", () -> lab().tokensInside("a").equals(List.of(alive)));
            assertThat(System.nanoTime() - killed)
                    .as("the machine may be busy for some seconds")
                    .isLessThan(lab().store
                            .expiry()
                            .plus(lab().store.idleLimit())
                            .plusSeconds(10)
                            .toNanos());

            staying.untilRenewed();
            lab().untilWaiting("a", 1);
            staying.release();
            assertThat(two.granted(writer, "2")).isGreaterThan(Math.max(dead, alive));
            writer.heard("released 2", LIMIT);
            writer.close();
            writer.heard("left", LIMIT);
            lab().events.addAll(two.events());
            lab().report().verify();
        }
    }

    @Test
    default void aPermitIsFreeForAnotherOnlyAfterItsHolderKnowsTheLoss() {
        Way way = lab().way();
        Holding cutOff = lab().toBeCutOff(way).permits(1, 2).hold("a");
        long token = cutOff.held().fencingToken();
        Person near = lab().person(lab().store.longLease()).permits(1, 2);
        Holding staying = near.hold("a");
        staying.held();
        CompletableFuture<List<Long>> insideAtTheLoss = cutOff.held()
                .lost()
                .publishOn(Schedulers.boundedElastic())
                .doOnNext(loss -> assertThat(loss.reason()).isIn(lab().lossesOfSilence()))
                .map(loss -> lab().tokensInside("a"))
                .toFuture();
        Holding next = near.hold("a");
        lab().untilWaiting("a", 1);

        lab().faults.faultBegan("network");
        way.cut();
        next.held();
        way.mend();
        lab().faults.faultEnded("network");

        assertThat(Lab.get(insideAtTheLoss)).contains(token);
        assertThat(Lab.error(cutOff.ended)).isInstanceOf(LockLostException.class);
        assertThat(lab().tokensInside("a"))
                .containsExactlyInAnyOrder(
                        staying.held().fencingToken(), next.held().fencingToken());
        staying.untilRenewed();
        staying.release();
        next.release();
        lab().report().verify();
    }
}
