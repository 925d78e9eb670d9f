package io.github.reactivelock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.HoldState;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** How sure a hold is of its lock, as its holder hears: at risk before a store that does not confirm ends it. */
abstract class StatesCases extends Cases {

    StatesCases(LockBackendContract contract) {
        super(contract);
    }

    /** Long enough for a busy machine to be late between a risk and what follows. */
    private LockOptions lease() {
        return DEFAULTS.withLease(contract.shortLease().multipliedBy(3));
    }

    private static String text(HoldState state) {
        if (state instanceof HoldState.AtRisk risk) {
            assertThat(risk.remaining()).isPositive();
            return "at risk";
        }
        return state instanceof HoldState.Lost lost ? "lost " + lost.loss().reason() : "safe";
    }

    /** All of them, when they have ended. */
    private static CompletableFuture<List<String>> states(LockHandle held) {
        return held.states().map(StatesCases::text).collectList().toFuture();
    }

    @Test
    void aHoldIsSafeUntilItIsReleased() {
        LockHandle held = Await.get(client().acquire(key));
        CompletableFuture<List<String>> states = states(held);

        Await.run(held.release());

        assertThat(Await.get(states)).containsExactly("safe");
        assertThat(Await.isEmpty(held.states().next())).as("over").isTrue();
    }

    @Test
    void aHoldIsAtRiskBeforeItIsLostToAStoreThatIsCutOffOrSilent() {
        FaultyBackend cut = faulty();
        cut.onRenewal(FaultyBackend::unreachable);
        FaultyBackend silent = faulty();
        silent.onRenewal(FaultyBackend::silent);
        LockHandle first = Await.get(client(cut).with(lease()).acquire(key));
        LockHandle second = Await.get(client(silent).with(lease()).acquire(key("second")));
        CompletableFuture<List<String>> refused = states(first);
        CompletableFuture<List<String>> unanswered = states(second);

        assertThat(Await.get(refused)).containsExactly("safe", "at risk", "lost UNREACHABLE");
        assertThat(Await.get(unanswered)).containsExactly("safe", "at risk", "lost UNREACHABLE");
        assertThat(text(Await.get(first.states().next()))).as("also later").isEqualTo("lost UNREACHABLE");
    }

    @Test
    void aHoldWhoseStoreComesBackIsSafeAgainAndTheListenerHearsTheSame() {
        Stories stories = new Stories();
        FaultyBackend backend = faulty();
        backend.onRenewal(FaultyBackend::unreachable);
        LockClient client = client(backend, settings -> settings.listener(stories));
        LockHandle held = Await.get(client.with(lease()).acquire(key));
        CompletableFuture<List<String>> states = states(held);
        CompletableFuture<HoldState> risk =
                held.states().filter(HoldState.AtRisk.class::isInstance).next().toFuture();

        assertThat(Await.get(risk))
                .isInstanceOfSatisfying(
                        HoldState.AtRisk.class,
                        atRisk -> assertThat(atRisk.cause()).hasMessageContaining("planted fault"));
        assertThat(held.isHeld()).isTrue();
        backend.mend();
        CompletableFuture<HoldState> safe =
                held.states().filter(HoldState.Safe.class::isInstance).next().toFuture();

        assertThat(Await.get(safe)).isNotNull();
        Await.run(held.release());
        assertThat(Await.get(states)).containsExactly("safe", "at risk", "safe");
        Await.until("the story has its end", stories::areComplete);
        assertThat(stories.all())
                .singleElement()
                .asString()
                .matches("waiting acquired renewalFailed atRisk( renewalFailed)* safeAgain released");
    }

    @Test
    void aHoldThatIsNotRenewedIsAtRiskBeforeItExpires() {
        LockHandle held = Await.get(client().with(lease().withoutRenewal()).acquire(key));

        assertThat(Await.get(states(held))).containsExactly("safe", "at risk", "lost EXPIRED");
    }

    @Test
    void aForcedReleaseIsTheLastThatIsHeard() {
        LockHandle held = Await.get(client().with(shortLease()).acquire(key));
        CompletableFuture<List<String>> states = states(held);

        assertThat(Await.get(client().forceRelease(key))).isTrue();

        assertThat(Await.get(states))
                .startsWith("safe")
                .last()
                .asString()
                .as("where the store does not push why, a renewal finds it")
                .startsWith("lost ");
    }
}
