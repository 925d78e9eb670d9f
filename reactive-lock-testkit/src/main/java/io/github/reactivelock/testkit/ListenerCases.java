package io.github.reactivelock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockTimeoutException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What a listener gets of each request, with any store. */
abstract class ListenerCases extends Cases {

    private static final int FLOWS = 200;

    private final Stories stories = new Stories();

    ListenerCases(LockBackendContract contract) {
        super(contract);
    }

    private LockClient told() {
        return client(contract.newBackend(), settings -> settings.listener(stories));
    }

    private void untilTold(String story) {
        Await.until("a story is '" + story + "'", () -> stories.all().contains(story));
    }

    @Test
    void aRequestIsToldOfFromItsWaitToItsReleaseWithItsContext() {
        LockClient client = told();
        LockHandle before = Await.get(client().acquire(key));
        CompletableFuture<String> flow = client.withLock(key, Mono.just("done"))
                .contextWrite(context -> context.put("trace", "t1"))
                .toFuture();

        assertThat(stories.all()).containsExactly("waiting");
        Await.run(before.release());

        assertThat(Await.get(flow)).isEqualTo("done");
        assertThat(stories.all()).containsExactly("waiting acquired released");
        assertThat(stories.requests())
                .singleElement()
                .satisfies(request ->
                        assertThat(request.context().<String>get("trace")).isEqualTo("t1"));
    }

    @Test
    void whatComesOfARequestThatIsNotGrantedIsTold() {
        LockHandle held = Await.get(client().acquire(key));
        LockClient client = told();

        assertThat(Await.isEmpty(client.tryAcquire(key))).isTrue();
        untilTold("waiting busy");
        LockOptions shortly = DEFAULTS.withWaitTimeout(Duration.ofSeconds(2));
        assertThat(Await.error(client.with(shortly).acquire(key).toFuture())).isInstanceOf(LockTimeoutException.class);
        untilTold("waiting timedOut");
        client.acquire(key).subscribe().dispose();
        untilTold("waiting cancelled");

        assertThat(stories.all()).hasSize(3);
        Await.run(held.release());
    }

    @Test
    void aLossIsToldOfOnce() {
        LockClient client = told();
        LockHandle held = Await.get(client.with(renewed()).acquire(key));

        assertThat(Await.get(client().forceRelease(key))).isTrue();

        Await.get(held.lost());
        Await.until("the story has its end", stories::areComplete);
        assertThat(Await.error(held.release().toFuture())).isNotNull();
        assertThat(stories.all())
                .singleElement()
                .asString()
                .startsWith("waiting acquired")
                .endsWith(" lost");
    }

    /** Flows of two clients, of which some give up at a random moment. */
    @Test
    void everyStoryHasOneEnd() {
        LockClient one = told();
        LockClient other = told();

        Await.run(Flux.range(0, FLOWS)
                .flatMap(
                        i -> {
                            Mono<Void> flow = (i % 2 == 0 ? one : other).withLock(key, Mono.empty());
                            return i % 3 == 0 ? flow.takeUntilOther(Mono.delay(Duration.ofMillis(i % 20))) : flow;
                        },
                        32)
                .then());
        close();

        Await.until("each story has an end", stories::areComplete);
        assertThat(stories.all())
                .as("a flow that is cancelled before it begins has none")
                .hasSizeBetween(FLOWS / 2, FLOWS);
    }
}
