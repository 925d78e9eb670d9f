package io.github.reactivelock.election;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockClientClosedException;
import io.github.reactivelock.LockListener;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockRequest;
import io.github.reactivelock.election.ElectionState.Following;
import io.github.reactivelock.election.ElectionState.Idle;
import io.github.reactivelock.election.ElectionState.Leading;
import io.github.reactivelock.election.ElectionState.Seeking;
import io.github.reactivelock.election.Race.Runner;
import io.github.reactivelock.memory.InMemoryLockBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;
import reactor.test.scheduler.VirtualTimeScheduler;
import reactor.test.subscriber.TestSubscriber;

class LeaderElectionTest {

    private static final Duration SECOND = Duration.ofSeconds(1);

    private final Race race = new Race();
    private final Runner a = race.runner("a");
    private final Runner b = race.runner("b");

    @Test
    void aListenerTellsCandidatesFromFlowsAndFromLocksOfTheirWork() {
        List<String> heard = new ArrayList<>();
        LockClient client = LockClient.builder(InMemoryLockBackend.create())
                .workScheduler(Schedulers.immediate())
                .listener(new LockListener() {
                    @Override
                    public void waiting(LockRequest request) {
                        heard.add(request.key() + (LeaderElection.isCandidate(request) ? " candidate" : " flow"));
                    }
                })
                .build();
        StepVerifier.create(LeaderElection.of(client, "leader")
                        .leadOnce(term -> client.withLock("work", Mono.just("done")))
                        .then(client.withLock("after", Mono.just("done"))))
                .expectNext("done")
                .expectComplete()
                .verify(Duration.ofMinutes(1));

        assertThat(heard).containsExactly("leader candidate", "work flow", "after flow");
    }

    @Test
    void theFirstLeadsAndTheOtherFollows() {
        a.run();
        b.run();

        assertThat(race.log).containsExactly("a leads");
        assertThat(a.election.state()).isInstanceOf(Leading.class);
        assertThat(b.election.state())
                .isInstanceOfSatisfying(
                        Following.class,
                        state -> assertThat(state.term())
                                .isEqualTo(a.leadership().term()));
        assertThat(a.leadership().key()).isEqualTo(Race.KEY);
        assertThat(a.leadership().isLeader()).isTrue();
        assertThat(a.leadership().remaining()).isPositive();
    }

    @Test
    void aClientThatKeepsItsLocksCanElectAllTheSame() {
        LockOptions keeping = LockOptions.defaults().withRetention(Duration.ofSeconds(5));
        try (Closing client = new Closing(LockClient.builder(InMemoryLockBackend.create())
                .options(keeping)
                .build())) {
            assertThat(LeaderElection.of(client.client, "k").state()).isInstanceOf(Idle.class);
        }
    }

    /** By the usual timer, which is no thread that an application or a test could stop. */
    @Test
    void whoSteppedDownLeadsAgainThoughATestHasInstalledVirtualTime() throws InterruptedException {
        VirtualTimeScheduler.set(VirtualTimeScheduler.create());
        try (Closing client =
                new Closing(LockClient.create(InMemoryLockBackend.create().connect()))) {
            LeaderElection election =
                    LeaderElection.of(client.client(), Race.KEY).withRest(Duration.ofMillis(10));
            CountDownLatch terms = new CountDownLatch(3);

            Disposable campaign =
                    election.lead(term -> Mono.fromRunnable(terms::countDown)).subscribe();

            assertThat(terms.await(1, TimeUnit.MINUTES)).isTrue();
            campaign.dispose();
        } finally {
            VirtualTimeScheduler.reset();
        }
    }

    private record Closing(LockClient client) implements AutoCloseable {
        @Override
        public void close() {
            client.close().block(Duration.ofMinutes(1));
        }
    }

    @Test
    void whoStepsDownQueuesBehindTheOthers() {
        a.run();
        b.run();
        Leadership first = a.leadership();

        StepVerifier.create(first.resign()).verifyComplete();

        assertThat(race.log).containsExactly("a leads", "a is cancelled", "b leads");
        assertThat(first.isLeader()).isFalse();
        assertThat(first.remaining()).isZero();
        assertThat(b.leadership().term()).isGreaterThan(first.term());
        race.pass(SECOND);
        a.assertFollows("b");
        b.leadership().resign().block();
        assertThat(race.log).endsWith("b is cancelled", "a leads");
        StepVerifier.create(first.resign()).verifyComplete();
        assertThat(a.leadership().isLeader())
                .as("a late resignation ends its own term only")
                .isTrue();
    }

    /** Also where the next one would be a flow of the same process. */
    @Test
    void theOneThatWaitsLongestIsNext() {
        a.run();
        b.run();
        LeaderElection third = LeaderElection.of(a.client, Race.KEY).withTimer(a.time);
        var campaign = third.lead(term -> Flux.never()).subscribe();

        StepVerifier.create(a.leadership().resign()).verifyComplete();

        assertThat(b.election.state()).isInstanceOf(Leading.class);
        assertThat(third.state()).isNotInstanceOf(Leading.class);
        campaign.dispose();
    }

    @Test
    void aCandidateThatIsAloneRestsAndThenLeadsAgain() {
        a.run();
        a.leadership().resign().block();

        race.pass(SECOND.minusMillis(100));
        assertThat(a.election.state()).isInstanceOf(Seeking.class);
        race.pass(Duration.ofMillis(200));

        assertThat(race.log).containsExactly("a leads", "a is cancelled", "a leads");
    }

    @Test
    void workThatCompletesStepsDown() {
        List<Long> terms = new ArrayList<>();
        a.campaign = a.election.lead(term -> Mono.just(term.term())).subscribe(terms::add);
        race.pass(SECOND.multipliedBy(3));

        assertThat(terms).hasSizeGreaterThan(2).isSorted().doesNotHaveDuplicates();
    }

    @Test
    void anErrorOfTheWorkPassesThroughAndTheLockIsGivenUp() {
        TestSubscriber<Object> failing = TestSubscriber.create();
        a.election.lead(term -> Mono.error(new IllegalStateException("broken"))).subscribe(failing);

        assertThat(failing.expectTerminalError()).hasMessage("broken");
        assertThat(race.isFree()).isTrue();
        assertThat(a.election.state())
                .isInstanceOfSatisfying(
                        Idle.class, idle -> assertThat(idle.cause()).hasMessage("broken"));
        a.run();
        assertThat(race.log).endsWith("a leads");
    }

    @Test
    void aFunctionThatThrowsIsAnErrorOfTheWork() {
        StepVerifier.create(a.election.lead(term -> {
                    throw new IllegalStateException("thrown");
                }))
                .verifyErrorMessage("thrown");
        assertThat(race.isFree()).isTrue();
    }

    @Test
    void cancellingGivesTheLockUpAtOnce() {
        a.run();
        b.run();

        a.campaign.dispose();

        assertThat(race.log).containsExactly("a leads", "a is cancelled", "b leads");
        assertThat(a.election.state()).isInstanceOf(Idle.class);
        race.pass(Duration.ofMinutes(1));
        assertThat(a.election.state()).isInstanceOf(Idle.class);
    }

    @Test
    void aCancelDuringTheRestAndDuringAPauseLeavesNothing() {
        a.run();
        a.leadership().resign().block();
        a.campaign.dispose();
        b.cut();
        b.run();
        b.campaign.dispose();
        b.mend();

        race.pass(Duration.ofMinutes(1));

        assertThat(race.log).containsExactly("a leads", "a is cancelled");
        assertThat(race.isFree()).isTrue();
    }

    @Test
    void closingTheClientEndsTheCampaign() {
        a.run();
        b.run();

        a.client.close().block();
        race.pass(SECOND);

        assertThat(race.log).contains("a is cancelled", "b leads");
        assertThat(race.log).anyMatch(line -> line.contains(LockClientClosedException.class.getName()));
        assertThat(a.election.state()).isInstanceOf(Idle.class);
    }

    @Test
    void aSecondCampaignOfTheSameCandidateIsRefused() {
        a.run();
        StepVerifier.create(a.election.lead(a::work))
                .verifyErrorMessage("the candidate for 'leader' campaigns already;"
                        + " cancel that first, or make another LeaderElection");
        assertThat(a.election.state()).isInstanceOf(Leading.class);
        a.campaign.dispose();
        a.run();
        assertThat(race.log).containsExactly("a leads", "a is cancelled", "a leads");
    }

    @Test
    void leadingOnceEndsWithTheWork() {
        StepVerifier.create(a.election.leadOnce(term -> Mono.just("migrated")))
                .expectNext("migrated")
                .verifyComplete();
        assertThat(race.isFree()).isTrue();
        StepVerifier.create(a.election.leadOnce(term -> term.resign().thenReturn("not reached")))
                .verifyComplete();
        StepVerifier.create(a.election.leadOnce(term -> Mono.error(new IllegalStateException("broken"))))
                .verifyErrorMessage("broken");
    }

    /** Operators pass a cancel on to what has completed. */
    @Test
    void aCancelAfterACampaignHasEndedIsNotTheEndOfTheNext() {
        Disposable following = a.election
                .leadOnce(term -> Mono.just("migrated"))
                .flatMap(value -> Mono.never())
                .subscribe();
        a.run();

        following.dispose();

        assertThat(a.election.state()).isInstanceOf(Leading.class);
        StepVerifier.create(a.election.lead(a::work)).verifyError(IllegalStateException.class);
    }

    @Test
    void theWaitTimeoutOfTheClientDoesNotEndACampaign() {
        a.run();
        LeaderElection patient = LeaderElection.of(
                        b.client.with(b.client.options().withWaitTimeout(SECOND).withoutRenewal()), Race.KEY)
                .withTimer(b.time);
        b.campaign = patient.lead(b::work).subscribe();
        race.pass(Duration.ofMinutes(1));

        a.campaign.dispose();
        race.pass(Duration.ofMinutes(1));

        assertThat(race.log).containsExactly("a leads", "a is cancelled", "b leads");
        assertThat(patient.state()).isInstanceOf(Leading.class);
    }

    @Test
    void demandIsThatOfTheSubscriber() {
        TestSubscriber<Integer> slow =
                TestSubscriber.builder().initialRequest(2).build();
        a.election.lead(term -> Flux.range(1, 3)).subscribe(slow);
        assertThat(slow.getReceivedOnNext()).containsExactly(1, 2);
        slow.request(2);
        race.pass(SECOND.multipliedBy(2));
        assertThat(slow.getReceivedOnNext()).containsExactly(1, 2, 3, 1);
        slow.cancel();
    }

    @Test
    void badSettingsAreRefusedAtOnce() {
        assertThatIllegalArgumentException().isThrownBy(() -> LeaderElection.of(a.client, " "));
        assertThatIllegalArgumentException().isThrownBy(() -> a.election.withRest(Duration.ofMillis(-1)));
        assertThatIllegalArgumentException().isThrownBy(() -> a.election.withBackoff(Duration.ZERO, SECOND));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> a.election.withBackoff(SECOND, Duration.ofMillis(999)))
                .withMessageContaining("longest pause of an election must be PT1S to PT24H but is PT0.999S");
    }
}
