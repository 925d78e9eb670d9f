package io.github.reactivelock.election;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.election.Race.Runner;
import io.micrometer.context.ContextRegistry;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Hooks;
import reactor.test.subscriber.TestSubscriber;

/**
 * A cancel at each of the moments at which the thread-locals of the flow are set, one of which is between grant and
 * term.
 */
class CancelledTermTest {

    private static final String KEY = "cancels";
    private static final int MOMENTS = 60;

    private final List<Leadership> led = new ArrayList<>();
    private int left;
    private TestSubscriber<Object> campaign = TestSubscriber.create();

    @BeforeEach
    void propagate() {
        ContextRegistry.getInstance().registerThreadLocalAccessor(KEY, () -> null, this::set, () -> {});
        Hooks.enableAutomaticContextPropagation();
    }

    @AfterEach
    void stop() {
        Hooks.disableAutomaticContextPropagation();
        ContextRegistry.getInstance().removeThreadLocalAccessor(KEY);
    }

    private void set(Object value) {
        if (left-- == 0) {
            campaign.cancel();
        }
    }

    @Test
    void everyTermThatBeganIsOver() {
        for (int moment = 0; moment < MOMENTS; moment++) {
            Race race = new Race();
            Runner a = race.runner("a");
            campaign = TestSubscriber.create();
            left = moment;

            a.election
                    .lead(leadership -> {
                        led.add(leadership);
                        return Flux.never();
                    })
                    .contextWrite(context -> context.put(KEY, "x"))
                    .subscribe(campaign);
            campaign.cancel();

            assertThat(race.isFree()).isTrue();
            assertThat(a.election.state()).isInstanceOf(ElectionState.Idle.class);
        }
        assertThat(led)
                .isNotEmpty()
                .allSatisfy(term -> assertThat(term.resign().toFuture()).isDone());
    }
}
