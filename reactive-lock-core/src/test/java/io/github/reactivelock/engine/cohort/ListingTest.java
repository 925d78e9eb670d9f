package io.github.reactivelock.engine.cohort;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.Bench;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockClientClosedException;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.LockPage;
import io.github.reactivelock.state.LockInfo;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** A list of locks in parts: what is asked for when, and what goes wrong. */
class ListingTest {

    private static final int IN_A_PART = 10;

    private final Bench bench = new Bench();
    private final List<String> asked = new ArrayList<>();

    /** A store with so many parts; the one after them is never answered. */
    private LockClient parts(int answered) {
        LockBackend store = (LockBackend) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {LockBackend.class},
                (proxy, method, args) -> switch (method.getName()) {
                    case "isReady" -> true;
                    case "whySilent" -> "look at it";
                    case "list" ->
                        Mono.defer(() -> {
                            asked.add((String) args[1]);
                            return asked.size() > answered ? Mono.never() : Mono.just(part(asked.size()));
                        });
                    default -> Mono.empty();
                });
        return bench.over(store).build();
    }

    private static LockPage part(int number) {
        List<LockInfo.Held> locks = IntStream.range(0, IN_A_PART)
                .mapToObj(i -> new LockInfo.Held(number + "." + i, "me", 4_096, Duration.ofSeconds(1), 0))
                .toList();
        return new LockPage(locks, "after " + number);
    }

    private static TestSubscriber<LockInfo.Held> slow(LockClient client) {
        TestSubscriber<LockInfo.Held> subscriber =
                TestSubscriber.builder().initialRequest(0).build();
        client.list("").subscribe(subscriber);
        return subscriber;
    }

    @Test
    void partsAreAskedForAsTheyAreTakenAndNotMoreThanTwoAhead() {
        TestSubscriber<LockInfo.Held> flow = slow(parts(1_000));
        assertThat(asked).hasSizeLessThanOrEqualTo(2);

        flow.request(5 * IN_A_PART);

        assertThat(flow.getReceivedOnNext()).hasSize(5 * IN_A_PART);
        assertThat(asked)
                .startsWith("", "after 1", "after 2", "after 3", "after 4")
                .hasSizeLessThanOrEqualTo(7);
        bench.time.advance(Duration.ofHours(1)); // a slow reader is no silent store
        assertThat(flow.isTerminatedOrCancelled()).isFalse();
        flow.cancel();
    }

    @Test
    void aPartThatIsNotAnsweredFailsTheListAfterTheCommandTimeout() {
        TestSubscriber<LockInfo.Held> flow = slow(parts(1));
        flow.request(Long.MAX_VALUE);

        bench.time.advance(Duration.ofSeconds(2));

        assertThat(flow.getReceivedOnNext()).hasSize(IN_A_PART);
        assertThat(flow.expectTerminalError())
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("could not be listed")
                .hasMessageContaining("did not answer");
    }

    @Test
    void aStoreThatCannotListSaysSo() {
        assertThatThrownBy(() -> bench.client.list("order:").collectList().block())
                .isInstanceOf(LockUnavailableException.class)
                .hasMessage("lock 'order:…' could not be listed: ScriptedBackend cannot list its locks; ask for single"
                        + " keys with inspect");
    }

    @Test
    void aClosedClientListsNothing() {
        LockClient client = parts(1);
        client.close().block();

        assertThatThrownBy(() -> client.list("").collectList().block()).isInstanceOf(LockClientClosedException.class);
        assertThat(asked).isEmpty();
    }

    @Test
    void aHundredThousandLocksAreListedInParts() {
        InMemoryLockBackend store = InMemoryLockBackend.create();
        int many = 100_000;
        for (int i = 0; i < many; i++) {
            assertThat(store.claim(new Claim(
                                    (i % 2 == 0 ? "even:" : "odd:") + i,
                                    "c" + i,
                                    "me",
                                    Duration.ofMinutes(9),
                                    Claim.Mode.QUEUE))
                            .block())
                    .isNotNull();
        }

        LockClient client = LockClient.create(store);

        assertThat(client.list("even:")
                        .map(LockInfo.Held::key)
                        .distinct()
                        .count()
                        .block())
                .isEqualTo(many / 2);
        assertThat(client.list("none").count().block()).isZero();
    }
}
