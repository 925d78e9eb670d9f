package io.github.reactivelock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.StepVerifier;
import reactor.test.scheduler.VirtualTimeScheduler;

class RedisLockBackendTest {

    private static final LockEvent FREE = new LockEvent.Snapshot(new LockInfo.Free("a"));

    private final FakeConnection connection = new FakeConnection();
    private final RedisLockBackend backend = new RedisLockBackend(connection, RedisBackendOptions.defaults()) {};

    @Test
    void everyConfirmationOfTheGrantChannelIsAReconnection() {
        StepVerifier.create(backend.signals())
                .then(() -> connection.listener.subscribed(channel()))
                .expectNextMatches(signal -> signal instanceof Signal.Reconnected)
                .then(() -> connection.listener.message(channel(), "garbage"))
                .then(() -> connection.listener.subscribed(channel()))
                .expectNextMatches(signal -> signal instanceof Signal.Reconnected)
                .thenCancel()
                .verify();

        assertThat(connection.asked)
                .filteredOn(asked -> !asked.equals("memory"))
                .hasSize(2)
                .last()
                .asString()
                .startsWith("-reactivelock:0:grants:");
    }

    @ParameterizedTest
    @ValueSource(strings = {"LOADING", "BUSY", "MASTERDOWN", "READONLY", "NOREPLICAS", "CLUSTERDOWN", "TRYAGAIN"})
    void aRefusalThatPassesIsWaitedOutAndToldMeanwhile(String code) throws Exception {
        connection.reply = Mono.error(new IllegalStateException(code + " not now"));

        CompletableFuture<ClaimResult> answer = backend.claim(
                        new Claim("k", "id", "me", Duration.ofMinutes(1), Claim.Mode.QUEUE))
                .toFuture();

        assertThat(backend.whySilent()).contains("Redis at fake:1").contains(code);
        assertThat(answer).isNotDone();
        connection.reply = Mono.just(List.of(7L));
        assertThat(answer.get(60, TimeUnit.SECONDS)).isInstanceOf(ClaimResult.Granted.class);
    }

    @Test
    void twoBackendsHaveTwoGrantChannels() {
        FakeConnection other = new FakeConnection();
        RedisLockBackend second = new RedisLockBackend(other, RedisBackendOptions.defaults()) {};
        backend.signals().subscribe().dispose();
        second.signals().subscribe().dispose();

        assertThat(other.asked).doesNotContainAnyElementsOf(connection.asked);
    }

    @ParameterizedTest
    @CsvSource({"true,await", "false,claim"})
    void aClaimSaysThatItsClientIsHeardWhereTheServerCanTell(boolean known, String verb) {
        connection.knowsListeners = known;
        Claim claim = new Claim("k", "id", "me", Duration.ofMinutes(1), Claim.Mode.QUEUE);
        Disposable listening = backend.signals().subscribe();
        backend.claim(claim).subscribe().dispose();
        connection.listener.subscribed(channel());
        backend.claim(claim).subscribe().dispose();
        backend.claim(new Claim("k", "id2", "me", Duration.ofMinutes(1), Claim.Mode.TRY))
                .subscribe()
                .dispose();
        listening.dispose();

        assertThat(connection.asked)
                .filteredOn(asked -> asked.matches("claim|await|try"))
                .containsExactly("claim", verb, "try");
    }

    @Test
    void aWaiterThatTheServerCannotTellOpensItsChannelAnewOnce() {
        connection.knowsListeners = true;
        Claim claim = new Claim("k", "id", "me", Duration.ofMinutes(1), Claim.Mode.QUEUE);
        Disposable listening = backend.signals().subscribe();
        connection.listener.subscribed(channel());
        connection.reply = Mono.just(List.of(0L, 5L, 7L, "", 1L));

        ClaimResult answer = backend.claim(claim).block();
        Object unused = backend.claim(claim).block();

        assertThat(answer).isEqualTo(new ClaimResult.Queued(Duration.ofMillis(5), null, 7L << 12));
        assertThat(connection.asked).containsOnlyOnce("!" + channel());
        listening.dispose();
    }

    @Test
    void anAnswerFromBeforeTheLastConfirmationOpensNothing() {
        connection.knowsListeners = true;
        Disposable listening = backend.signals().subscribe();
        connection.listener.subscribed(channel());
        connection.reply = Mono.fromSupplier(() -> {
            connection.listener.subscribed(channel());
            return List.of(0L, 5L, 7L, "", 1L);
        });

        Object unused = backend.claim(new Claim("k", "id", "me", Duration.ofMinutes(1), Claim.Mode.QUEUE))
                .block();

        assertThat(connection.asked).doesNotContain("!" + channel());
        listening.dispose();
    }

    @Test
    void aWatchRenewsItsMarkAndLooksAgainOnlyIfTheMarkWasMissing() {
        connection.reply = Mono.just(List.of(1L));
        StepVerifier.withVirtualTime(() -> inVirtualTime().events("a"))
                .expectSubscription()
                .then(() -> connection.listener.subscribed(channel()))
                .expectNext(FREE)
                .then(() -> connection.reply = Mono.just(List.of(0L)))
                .expectNoEvent(Duration.ofSeconds(50))
                .then(() -> connection.reply = Mono.error(new IllegalArgumentException("unreachable")))
                .expectNoEvent(Duration.ofSeconds(20))
                .then(() -> connection.reply = Mono.just(List.of(1L)))
                .thenAwait(Duration.ofSeconds(20))
                .expectNext(FREE)
                .thenCancel()
                .verify();

        assertThat(Collections.frequency(connection.asked, "watch")).isEqualTo(5);
    }

    private RedisLockBackend inVirtualTime() {
        return new RedisLockBackend(connection, RedisBackendOptions.defaults(), VirtualTimeScheduler.get()) {};
    }

    @Test
    void anEventThatOvertakesTheSnapshotWaitsForIt() {
        Sinks.One<List<Object>> reply = Sinks.one();
        connection.reply = reply.asMono();
        StepVerifier.create(backend.events("a"))
                .then(() -> {
                    connection.listener.subscribed(channel());
                    connection.listener.message(channel(), "released 1");
                    reply.tryEmitValue(List.of(1L)).orThrow();
                })
                .expectNext(FREE)
                .expectNext(new LockEvent.Released("a", 1L << 12))
                .thenCancel()
                .verify();
    }

    @Test
    void whatComesBeforeTheChannelIsConfirmedIsLeftToTheSnapshot() {
        connection.reply = Mono.just(List.of(1L));
        StepVerifier.create(backend.events("a"))
                .then(() -> {
                    connection.listener.message(channel(), "acquired 1 me");
                    connection.listener.subscribed(channel());
                })
                .expectNext(FREE)
                .thenCancel()
                .verify();
    }

    @Test
    void aBatchOfRenewalsThatFailsSaysNothingOfTheOthers() {
        List<Claim> held = IntStream.range(0, 700)
                .mapToObj(i -> new Claim("k" + i, "id" + i, "me", Duration.ofSeconds(60), Claim.Mode.QUEUE))
                .toList();
        List<Object> all = Collections.nCopies(500, 1L);
        connection.reply = Mono.defer(
                () -> connection.asked.size() == 1 ? Mono.just(all) : Mono.error(new IllegalArgumentException("gone")));

        StepVerifier.create(backend.renew(held))
                .assertNext(result -> {
                    assertThat(result.renewed()).hasSize(500).contains("id0", "id499");
                    assertThat(result.lost()).isEmpty();
                })
                .verifyComplete();
    }

    @Test
    void renewalIsAnErrorIfNoBatchWasAnswered() {
        connection.reply = Mono.error(new IllegalArgumentException("gone"));
        List<Claim> held =
                Collections.nCopies(700, new Claim("k", "id", "me", Duration.ofMinutes(1), Claim.Mode.QUEUE));

        StepVerifier.create(backend.renew(held))
                .verifyErrorMatches(error -> error.getMessage().contains("gone"));
    }

    private String channel() {
        return connection.asked.get(0).substring(1);
    }
}
