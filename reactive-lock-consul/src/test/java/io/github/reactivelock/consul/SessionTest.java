package io.github.reactivelock.consul;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LossReason;
import io.github.reactivelock.testservers.TcpProxy;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** What the session of a client means for its locks. */
class SessionTest extends Fixture {

    private static final Duration TTL = ConsulBackendOptions.SHORTEST_SESSION;

    private static ConsulBackendOptions shortest() {
        return Consuls.patient().withSessionTtl(TTL);
    }

    private void endSession(Claim of) {
        String entry = server.ask("GET", "kv/" + new KeyLayout("reactivelock").claim(of), "");
        server.ask("PUT", "session/destroy/" + entry.replaceAll("(?s).*\"Session\":\"([^\"]+)\".*", "$1"), "");
    }

    @Test
    void aLeaseBelowTheShortestSessionIsRefusedWithTheReason() {
        LockClient client = client().with(LockOptions.defaults().withLease(Duration.ofMillis(9_999)));

        assertThat(Consuls.error(client.acquire(key)))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("9999 ms on '" + key + "'")
                .hasMessageContaining("for up to 30 s anyway")
                .hasMessageContaining("withLease");
        assertThat(Consuls.keys(server)).noneMatch(name -> name.contains(key));
    }

    @Test
    void aHoldIsReliedUponForNoLongerThanTheSessionLasts() {
        ConsulLockBackend backend = opened(ConsulLockBackend.connect(server.uri(), shortest()));

        ClaimResult.Granted granted = (ClaimResult.Granted) Consuls.get(backend.claim(claim()));

        assertThat(granted.lease()).isPositive().isLessThanOrEqualTo(TTL);
    }

    @Test
    void aDeadClientsLockIsFreeAfterOneToTwoTimesTheTtl() {
        try (TcpProxy way = TcpProxy.to(server.port())) {
            LockClient dying = client(ConsulLockBackend.connect("127.0.0.1:" + way.port(), shortest()));
            LockHandle held = Consuls.get(dying.acquire(key));
            CompletableFuture<LockHandle> next = client().acquire(key).toFuture();
            LockClient observer = client();
            Consuls.until(
                    "another waits",
                    () -> Consuls.get(observer.inspect(key))
                            .held()
                            .map(info -> info.waiters() == 1)
                            .orElse(false));

            long cut = System.nanoTime();
            way.cut();

            Consuls.until("the hold is lost here", () -> !held.isHeld());
            assertThat(next).as("not before it is lost here").isNotDone();
            Consuls.until("the lock is free", next::isDone);
            assertThat(Duration.ofNanos(System.nanoTime() - cut)).isGreaterThan(TTL.dividedBy(2));
            Consuls.done(next.join().release());
        }
    }

    @Test
    void aSessionEndedByAnOperatorLosesTheHoldAndIsMadeAnew() {
        ConsulLockBackend backend = opened(ConsulLockBackend.connect(server.uri(), shortest()));
        Queue<Signal> signals = listen(backend);
        Claim claim = claim();
        long token = granted(Consuls.get(backend.claim(claim)));

        endSession(claim);

        Consuls.until(
                "the loss is pushed", () -> signals.contains(new Signal.Suspect(claim.id(), LossReason.SESSION_LOST)));
        assertThat(Consuls.get(backend.renew(List.of(claim))).lost())
                .containsEntry(claim.id(), LossReason.SESSION_LOST);
        Claim next = claim();
        assertThat(granted(Consuls.get(backend.claim(next)))).isGreaterThan(token);
        assertThat(Consuls.get(backend.release(next))).isTrue();
        assertThat(Consuls.get(backend.release(claim))).isFalse();
    }

    @Test
    void aClaimThatWaitedInAnEndedSessionStandsInLineAgain() {
        ConsulLockBackend backend = opened(ConsulLockBackend.connect(server.uri(), shortest()));
        Queue<Signal> signals = listen(backend);
        ConsulLockBackend other = backend();
        Claim owner = claim();
        Claim waiter = claim();
        granted(Consuls.get(other.claim(owner)));
        assertThat(Consuls.get(backend.claim(waiter))).isInstanceOf(ClaimResult.Queued.class);

        endSession(waiter);

        Consuls.until("it should ask again", () -> signals.contains(new Signal.RecheckClaim(waiter.id())));
        assertThat(Consuls.get(backend.claim(waiter))).isInstanceOf(ClaimResult.Queued.class);
        assertThat(Consuls.get(other.release(owner))).isTrue();
        Consuls.until(
                "it is granted",
                () -> signals.stream()
                        .anyMatch(signal -> signal instanceof Signal.Grant grant
                                && grant.claimId().equals(waiter.id())));
        assertThat(Consuls.get(backend.release(waiter))).isTrue();
    }

    @Test
    void aKeyThatAStrangerWritesToOrDeletesIsALostHold() {
        ConsulLockBackend backend = backend();
        KeyLayout names = new KeyLayout("reactivelock");
        Claim written = claim();
        long first = granted(Consuls.get(backend.claim(written)));
        server.ask("PUT", "kv/" + names.claim(written), "mine");

        assertThat(Consuls.get(backend.renew(List.of(written))).lost()).containsKey(written.id());
        Claim deleted = claim();
        Consuls.until(
                "what was written to is removed",
                () -> Consuls.get(backend.inspect(key)).isFree());
        assertThat(granted(Consuls.get(backend.claim(deleted)))).isGreaterThan(first);
        server.ask("DELETE", "kv/" + names.claim(deleted), "");

        assertThat(Consuls.get(backend.renew(List.of(deleted))).lost()).containsKey(deleted.id());
        assertThat(Consuls.get(backend.release(deleted))).isFalse();
    }

    @Test
    void aHoldThatAStrangerWroteToKeepsNoLockAfterItsRelease() {
        ConsulLockBackend backend = backend();
        Claim written = claim();
        granted(Consuls.get(backend.claim(written)));
        server.ask("PUT", "kv/" + new KeyLayout("reactivelock").claim(written), "mine");

        assertThat(Consuls.get(backend.release(written))).isFalse();

        assertThat(Consuls.get(backend.inspect(key)).isFree()).isTrue();
    }

    @Test
    void aSessionThatFailedUnheededIsMadeByTheNextClaim() {
        try (TcpProxy way = TcpProxy.to(server.port())) {
            ConsulLockBackend backend = opened(ConsulLockBackend.connect("127.0.0.1:" + way.port(), Consuls.patient()));
            way.cut();
            backend.signals().subscribe(signal -> {}, error -> {}).dispose();
            Claim claim = claim();
            assertThat(Consuls.error(backend.claim(claim))).hasMessageContaining("did not answer in time");

            way.mend();

            granted(Consuls.get(backend.claim(claim)));
            assertThat(Consuls.get(backend.release(claim))).isTrue();
            closeAll();
        }
    }

    @Test
    void aClaimThatComesWhileTheSessionEndsMakesNoOther() {
        try (SlowAgent agent = new SlowAgent(server)) {
            ConsulLockBackend backend = opened(ConsulLockBackend.connect(agent.address(), Consuls.patient()));
            granted(Consuls.get(backend.claim(claim())));
            agent.holdUpAnswersAboutEnds();
            CompletableFuture<Void> closed = backend.close().toFuture();
            Consuls.until("the session has ended", () -> Consuls.keys(server).isEmpty());

            assertThat(Consuls.error(backend.claim(claim()))).hasMessageContaining("is closed");

            agent.letGo();
            closed.join();
            assertThat(Consuls.keys(server)).isEmpty();
        }
    }
}
