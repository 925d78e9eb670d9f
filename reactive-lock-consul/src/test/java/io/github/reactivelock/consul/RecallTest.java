package io.github.reactivelock.consul;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.Share;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;

/** How an owner is called back, and that nothing is different without that. */
class RecallTest extends Fixture {

    private ConsulLockBackend keeping;
    private ConsulLockBackend other;
    private Queue<Signal> signals;

    @BeforeEach
    void listen() {
        keeping = backend();
        other = backend();
        signals = listen(keeping);
    }

    private static Claim recallable(String key) {
        String id = UUID.randomUUID().toString();
        return new Claim(key, id, "a keeper", LEASE, Claim.Mode.QUEUE, Claim.Keeping.RENEWED, Share.WHOLE, true);
    }

    private static Claim waits(Claim owner) {
        return new Claim(owner.key(), UUID.randomUUID().toString(), "waits", LEASE, Claim.Mode.QUEUE);
    }

    private Claim tries() {
        return claim(Claim.Mode.TRY, LEASE);
    }

    private static void queue(ConsulLockBackend backend, Claim claim) {
        assertThat(Consuls.get(backend.claim(claim))).isInstanceOf(ClaimResult.Queued.class);
    }

    private long recalls(Claim claim) {
        return signals.stream().filter(new Signal.Recall(claim.id())::equals).count();
    }

    private List<Entry> entries(String beginning) {
        return Consuls.keys(server).stream()
                .filter(name -> name.startsWith("reactivelock/" + beginning))
                .flatMap(name -> Json.entries(server.ask("GET", "kv/" + name + "?consistent", "")).stream())
                .toList();
    }

    /** How often something was put into the notice key of any client. */
    private long notices() {
        return entries("!").stream()
                .filter(entry -> !entry.key().endsWith("!gate"))
                .mapToLong(entry -> entry.acquired() - 1)
                .sum();
    }

    /** A notice takes the place of the one before. */
    @Test
    void ownersThatAreCalledBackTogetherAreAllTold() {
        List<Claim> held =
                IntStream.range(0, 30).mapToObj(i -> recallable(key + i)).toList();
        held.forEach(claim -> granted(Consuls.get(keeping.claim(claim))));
        Claim alone = recallable(key);
        granted(Consuls.get(keeping.claim(alone)));

        List<ClaimResult> answers = Flux.fromIterable(held)
                .flatMap(claim -> other.claim(waits(claim)), held.size())
                .collectList()
                .block(Consuls.LIMIT);

        assertThat(answers).hasSize(30).hasOnlyElementsOfType(ClaimResult.Queued.class);
        Consuls.until("all are told", () -> held.stream().allMatch(claim -> recalls(claim) > 0));
        assertThat(recalls(alone)).isZero();
    }

    @Test
    void onlyTheClaimJustBehindTheOwnerCallsItBack() {
        Claim owner = recallable(key);
        granted(Consuls.get(keeping.claim(owner)));
        Claim first = recallable(key);
        Claim second = claim();
        queue(other, first);
        Consuls.until("it is told", () -> recalls(owner) == 1);
        queue(other, second);
        queue(other, second);
        queue(other, first);

        Consuls.until("each of its questions is told", () -> recalls(owner) == 2);
        assertThat(notices()).isEqualTo(2);
        assertThat(Consuls.get(other.release(first))).isFalse();
        queue(other, second);
        Consuls.until("the next one asks", () -> recalls(owner) == 3);
    }

    @Test
    void aTryBehindARecallableOwnerWaitsAndGetsTheLock() {
        Queue<Signal> theirs = listen(other);
        Claim owner = recallable(key);
        granted(Consuls.get(keeping.claim(owner)));
        Claim tries = tries();
        queue(other, tries);
        Consuls.until("it calls back", () -> recalls(owner) == 1);
        queue(other, tries);
        assertThat(Consuls.get(keeping.claim(tries()))).isEqualTo(new ClaimResult.Busy());

        Consuls.until("it calls back again", () -> recalls(owner) == 2);
        assertThat(Consuls.get(keeping.release(owner))).isTrue();

        Consuls.until(
                "it has the lock",
                () -> theirs.stream()
                        .anyMatch(signal -> signal instanceof Signal.Grant grant
                                && grant.claimId().equals(tries.id())));
        assertThat(Consuls.get(keeping.claim(tries()))).isEqualTo(new ClaimResult.Busy());
    }

    @Test
    void oneWhoOnlyWaitsForTheReleaseCallsTheOwnerBackWithoutAClaim() {
        Claim owner = recallable(key);
        granted(Consuls.get(keeping.claim(owner)));

        Consuls.done(other.recall(key));
        Consuls.done(other.recall("free"));

        Consuls.until("it is told", () -> recalls(owner) == 1);
        assertThat(entries(key)).hasSize(1);
    }

    /** Only what could be called back is written again where it stays taken. */
    @Test
    void aForcedReleaseThatMeetsTheRewritingOfAKeyEndsWhatStays() {
        try (SlowAgent agent = new SlowAgent(server)) {
            ConsulLockBackend operator = opened(ConsulLockBackend.connect(agent.address(), Consuls.patient()));
            Claim owner = recallable(key);
            long token = granted(Consuls.get(keeping.claim(owner)));
            agent.holdUpDeletions();
            CompletableFuture<Boolean> forced =
                    operator.forceRelease(key, token).toFuture();
            Consuls.until("it has looked", () -> agent.heldUp() == 1);

            assertThat(Consuls.get(keeping.keep(owner, waits(owner)))).isTrue();
            agent.letGo();

            assertThat(forced).succeedsWithin(Consuls.LIMIT).isEqualTo(true);
            assertThat(Consuls.get(other.inspect(key)).isFree()).isTrue();
            closeAll();
        }
    }

    @Test
    void withoutRetentionNoKeyHasAMarkAndNothingIsPutIntoANotice() {
        granted(Consuls.get(keeping.claim(claim())));
        Claim waits = claim();
        queue(other, waits);
        queue(other, waits);
        assertThat(Consuls.get(other.claim(tries()))).isEqualTo(new ClaimResult.Busy());
        Consuls.done(other.recall(key));

        assertThat(((LockInfo.Held) Consuls.get(other.inspect(key))).recallable())
                .isFalse();
        assertThat(notices()).isZero();
        assertThat(entries(key)).hasSize(2).extracting(Entry::flags).containsOnly(0L);
    }
}
