package io.github.reactivelock.faults;

import static io.github.reactivelock.faults.Lab.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.election.ElectionState.Following;
import io.github.reactivelock.election.ElectionState.Leading;
import io.github.reactivelock.election.LeaderElection;
import io.github.reactivelock.testkit.history.HistoryEvent;
import io.github.reactivelock.testkit.history.HistoryEvent.Kind;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;

/** The rows of the fault matrix about a leader: resigned, paused, killed, cut off. */
interface LeaderCases {

    /** The lab of the row that runs. */
    Lab lab();

    /**
     * One after the other, because a process takes long to start. The prompt succession is for the checker to judge.
     */
    @Test
    default void anEndedLeadersSuccessorHasAHigherTermAndOldWritesAreRefused() {
        try (Processes two = new Processes(lab().store)) {
            ClientProcess first = two.holder();
            ClientProcess second = two.waiter();
            long resigned = leads(campaigns(first), first, "1");
            accepts(first, resigned);
            campaigns(second);
            lab().untilWaiting("a", 1);

            ended(first, "1", resigned);
            first.say("resign");
            long paused = leads(second, second, "2");
            assertThat(paused).isGreaterThan(resigned);
            first.heard("stopped " + resigned, LIMIT);
            lab().untilWaiting("a", 1);

            lab().faults.faultBegan("stopped");
            lab().stop(second);
            long killed = leads(first, first, "3");
            assertThat(killed).isGreaterThan(paused);
            accepts(first, killed);
            second.resume();
            lab().faults.faultEnded("stopped");
            second.heard("stopped " + paused, LIMIT);
            ended(second, "2", paused);
            second.say("write " + paused);
            second.heard("refused " + paused, LIMIT);
            lab().untilWaiting("a", 1);
            event(second, Kind.INVOKED, "4", 0);

            event(first, Kind.HELD, "3", killed);
            lab().faults.killed(first.name());
            first.kill();
            long last = leads(second, second, "4");
            assertThat(last).isGreaterThan(killed);
            accepts(second, last);

            second.close();
            second.heard("left", LIMIT);
            ended(second, "4", last);
            lab().report().verify();
        }
    }

    @Test
    default void aLeaderCutOffIsCancelledBeforeTheNextLeadsAndThenFollows() {
        Way way = lab().way();
        Queue<String> log = new ConcurrentLinkedQueue<>();
        LockClient far = lab().toBeCutOff(way).lock();
        LeaderElection a = LeaderElection.of(far, "a");
        Disposable first = a.lead(term -> work("a", log)).subscribe();
        Lab.eventually("it leads", () -> a.state() instanceof Leading);
        long term = ((Leading) a.state()).leadership().term();
        LeaderElection b =
                LeaderElection.of(lab().person(lab().store.longLease()).lock(), "a");
        Disposable second = b.lead(next -> work("b", log)).subscribe();
        lab().untilWaiting("a", 1);

        lab().faults.faultBegan("network");
        way.cut();
        Lab.eventually("the next one leads", () -> b.state() instanceof Leading);
        way.mend();
        lab().faults.faultEnded("network");

        Lab.eventually("its work has begun", () -> log.contains("b leads")); // which follows its state
        assertThat(log).containsExactly("a leads", "a is cancelled", "b leads");
        long next = ((Leading) b.state()).leadership().term();
        assertThat(next).isGreaterThan(term);
        Lab.eventually("it follows", () -> a.state() instanceof Following seen && seen.term() == next);
        lab().untilWaiting("a", 1);
        ((Leading) b.state()).leadership().resign().block(LIMIT);
        Lab.eventually("it leads again", () -> a.state() instanceof Leading);
        assertThat(((Leading) a.state()).leadership().term()).isGreaterThan(next);
        first.dispose();
        second.dispose();
        lab().report().verify();
    }

    private static Flux<Void> work(String name, Queue<String> log) {
        return Flux.<Void>never()
                .doOnSubscribe(begun -> log.add(name + " leads"))
                .doOnCancel(() -> log.add(name + " is cancelled"));
    }

    @ClientProcess.CanIgnoreReturnValue
    private ClientProcess campaigns(ClientProcess client) {
        client.say("lead a");
        client.heard("campaigns", LIMIT);
        return client;
    }

    private long leads(ClientProcess asked, ClientProcess client, String flow) {
        event(asked, Kind.INVOKED, flow, 0);
        long term = Long.parseLong(client.heard("leads ", LIMIT));
        event(client, Kind.GRANTED, flow, term);
        return term;
    }

    private void ended(ClientProcess client, String flow, long term) {
        event(client, Kind.RELEASED, flow, term);
    }

    private void accepts(ClientProcess client, long term) {
        client.say("write " + term);
        client.heard("accepted " + term, LIMIT);
    }

    /** The process tells no deadlines, so that a term counts for what was heard of it. */
    private void event(ClientProcess client, Kind kind, String flow, long term) {
        long now = System.nanoTime();
        lab().events.add(new HistoryEvent(now, client.name(), kind, "a", client.name() + "#" + flow, term, now + 1));
    }
}
