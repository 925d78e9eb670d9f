package io.github.reactivelock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.HoldState;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
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

    /** What one subscriber hears, as it hears it. */
    private static final class Heard {

        private final List<String> states = new CopyOnWriteArrayList<>();
        private final CompletableFuture<List<String>> all;

        private Heard(LockHandle held) {
            all = held.states()
                    .map(StatesCases::text)
                    .doOnNext(states::add)
                    .collectList()
                    .toFuture();
        }

        private void until(String... said) {
            Await.until(List.of(said) + " was heard", () -> states.equals(List.of(said)));
        }
    }

    @Test
    void aHoldIsSafeUntilItIsReleased() {
        LockHandle held = Await.get(client().acquire(key));
        Heard heard = new Heard(held);
        heard.until("safe");

        Await.run(held.release());

        assertThat(Await.get(heard.all)).containsExactly("safe");
        assertThat(Await.isEmpty(held.states().next())).as("over").isTrue();
    }

    @Test
    void aHoldIsAtRiskBeforeACutOrSilentStoreLosesIt() {
        FaultyBackend cut = faulty();
        FaultyBackend silent = faulty();
        LockHandle first = Await.get(client(cut).with(lease()).acquire(key));
        LockHandle second = Await.get(client(silent).with(lease()).acquire(key("second")));
        Heard refused = new Heard(first);
        Heard unanswered = new Heard(second);
        refused.until("safe");
        unanswered.until("safe");

        cut.onRenewal(FaultyBackend::unreachable);
        silent.onRenewal(FaultyBackend::silent);

        assertThat(Await.get(refused.all)).containsExactly("safe", "at risk", "lost UNREACHABLE");
        assertThat(Await.get(unanswered.all)).containsExactly("safe", "at risk", "lost UNREACHABLE");
        assertThat(text(Await.get(first.states().next()))).as("also later").isEqualTo("lost UNREACHABLE");
    }

    @Test
    void aHoldWhoseStoreReturnsIsSafeAgainForTheListenerToo() {
        Stories stories = new Stories();
        FaultyBackend backend = faulty();
        LockClient client = client(backend, settings -> settings.listener(stories));
        // The latter half of it is for this thread to look and to mend.
        LockOptions longer = DEFAULTS.withLease(contract.shortLease().multipliedBy(5));
        LockHandle held = Await.get(client.with(longer).acquire(key));
        Heard heard = new Heard(held);
        heard.until("safe");

        backend.onRenewal(FaultyBackend::unreachable);
        heard.until("safe", "at risk");
        assertThat(Await.get(held.states().next()))
                .isInstanceOfSatisfying(
                        HoldState.AtRisk.class, risk -> assertThat(risk.cause()).hasMessageContaining("planted fault"));
        assertThat(held.isHeld()).isTrue();
        backend.mend();
        heard.until("safe", "at risk", "safe");

        Await.run(held.release());
        assertThat(Await.get(heard.all)).hasSize(3);
        Await.until("the story has its end", stories::areComplete);
        assertThat(stories.all())
                .singleElement()
                .asString()
                .matches("waiting acquired renewalFailed atRisk( renewalFailed)* safeAgain released");
    }

    @Test
    void aHoldThatIsNotRenewedIsAtRiskBeforeItExpires() {
        var states = client().with(lease().withoutRenewal()).acquire(key).flatMapMany(LockHandle::states);

        assertThat(Await.get(states.map(StatesCases::text).collectList()))
                .containsExactly("safe", "at risk", "lost EXPIRED");
    }

    @Test
    void aForcedReleaseIsTheLastThatIsHeard() {
        LockHandle held = Await.get(client().with(renewed()).acquire(key));
        Heard heard = new Heard(held);

        assertThat(Await.get(client().forceRelease(key))).isTrue();

        assertThat(Await.get(heard.all))
                .last()
                .asString()
                .as("where the store does not push why, a renewal finds it")
                .startsWith("lost ");
    }
}
