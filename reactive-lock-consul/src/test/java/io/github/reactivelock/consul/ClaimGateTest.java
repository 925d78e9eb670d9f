package io.github.reactivelock.consul;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Claims that an agent carries out after they were given up, because it was stopped meanwhile for example. */
class ClaimGateTest extends Fixture {

    /** The first agent gets half of it before the next one is asked. */
    private static final Duration TIMEOUT = Duration.ofSeconds(8);

    private ConsulLockBackend askingFirst(SlowAgent agent) {
        return opened(ConsulLockBackend.connect(
                agent.address() + "," + server.uri(), Consuls.patient().withCommandTimeout(TIMEOUT)));
    }

    private boolean isShut() {
        return Consuls.keys(server).stream().anyMatch(name -> name.endsWith("!gate"));
    }

    @Test
    void aClaimThatAnAgentCarriesOutAfterItsReleaseKeepsNoLock() {
        try (SlowAgent agent = new SlowAgent(server)) {
            ConsulLockBackend backend = askingFirst(agent);
            agent.holdUpClaims();
            Claim late = claim();
            granted(Consuls.get(backend.claim(late)));
            assertThat(agent.heldUp()).isPositive();
            assertThat(Consuls.get(backend.release(late))).isTrue();
            Consuls.until("what was asked before is shut out", this::isShut);

            agent.letGo();

            Consuls.until("the agent carried it out", () -> agent.carriedOut() >= agent.heldUp());
            assertThat(Consuls.get(backend.inspect(key)).isFree()).isTrue();
            granted(Consuls.get(backend().claim(claim())));
            closeAll();
        }
    }

    @Test
    void aClaimMadeAnewAndCarriedOutAgainLaterKeepsItsPlace() {
        try (SlowAgent agent = new SlowAgent(server)) {
            ConsulLockBackend backend = askingFirst(agent);
            Claim claim = claim();
            granted(Consuls.get(backend.claim(claim)));
            server.ask("DELETE", "kv/" + new KeyLayout("reactivelock").claim(claim), "");
            assertThat(Consuls.get(backend.renew(List.of(claim))).lost()).containsKey(claim.id());
            agent.holdUpClaims();
            long token = granted(Consuls.get(backend.claim(claim)));
            assertThat(agent.heldUp()).isPositive();

            agent.letGo();

            Consuls.until("the agent carried it out", () -> agent.carriedOut() >= agent.heldUp());
            assertThat(Consuls.get(backend.renew(List.of(claim))).renewed()).containsExactly(claim.id());
            assertThat(Consuls.get(backend.inspect(key)).held().orElseThrow().fencingToken())
                    .isEqualTo(token);
            assertThat(Consuls.get(backend.release(claim))).isTrue();
            closeAll();
        }
    }

    @Test
    void claimsBesideThoseThatAreShutOutAreMadeAllTheSame() {
        try (SlowAgent agent = new SlowAgent(server)) {
            ConsulLockBackend backend = askingFirst(agent);
            agent.holdUpClaims();
            for (int i = 0; i < 3; i++) {
                Claim late = claim();
                granted(Consuls.get(backend.claim(late)));
                assertThat(Consuls.get(backend.release(late))).isTrue();
                Consuls.until("what was asked before is shut out", this::isShut);
            }
            Claim held = claim();
            granted(Consuls.get(backend.claim(held)));
            agent.letGo();
            Consuls.until("the agent carried it out", () -> agent.carriedOut() >= agent.heldUp());

            Claim waiting = claim();
            assertThat(Consuls.get(backend.claim(waiting))).isInstanceOf(ClaimResult.Queued.class);
            assertThat(Consuls.get(backend.release(held))).isTrue();
            assertThat(Consuls.get(backend.claim(waiting))).isInstanceOf(ClaimResult.Granted.class);
            assertThat(Consuls.get(backend.release(waiting))).isTrue();
            closeAll();
        }
    }
}
