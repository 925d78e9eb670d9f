package io.github.reactivelock.election;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.election.Race.Runner;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.subscriber.TestSubscriber;

/** When a resignation is done, if the campaign is cancelled at that moment. */
class ResignationTest {

    private final Race race = new Race();
    private final Runner a = race.runner("a");

    @Test
    void aResignationBesideACancelIsDoneWhenTheLockIsGivenUp() {
        a.run();
        Sinks.Empty<Void> way = Sinks.empty();
        a.delay = way.asMono();
        Leadership term = a.leadership();
        TestSubscriber<Void> before = TestSubscriber.create();
        TestSubscriber<Void> afterwards = TestSubscriber.create();

        term.resign().subscribe(before);
        a.campaign.dispose();
        term.resign().subscribe(afterwards);

        assertThat(race.isFree()).isFalse();
        assertThat(before.isTerminated()).isFalse();
        assertThat(afterwards.isTerminated()).isFalse();
        way.tryEmitEmpty().orThrow();
        assertThat(race.isFree()).isTrue();
        assertThat(before.isTerminatedComplete()).isTrue();
        assertThat(afterwards.isTerminatedComplete()).isTrue();
    }

    @Test
    void aResignationDuringACancelReleasesNothingBeforeTheWorkIsCancelled() {
        TestSubscriber<Void> resigned = TestSubscriber.create();
        a.campaign = a.election
                .lead(leadership -> Flux.never().doOnCancel(() -> {
                    leadership.resign().subscribe(resigned);
                    race.log.add("free: " + race.isFree() + ", resigned: " + resigned.isTerminated());
                }))
                .subscribe();

        a.campaign.dispose();

        assertThat(race.log).containsExactly("free: false, resigned: false");
        assertThat(race.isFree()).isTrue();
        assertThat(resigned.isTerminatedComplete()).isTrue();
    }

    @Test
    void aResignationWhoseReleaseIsNotAnsweredIsDoneWhenThatIsKnown() {
        a.run();
        Leadership term = a.leadership();
        a.delay = Mono.never();
        a.campaign.dispose();
        TestSubscriber<Void> resigned = TestSubscriber.create();
        term.resign().subscribe(resigned);
        assertThat(resigned.isTerminated()).isFalse();

        race.pass(Duration.ofSeconds(3));

        assertThat(resigned.isTerminatedComplete()).isTrue();
    }
}
