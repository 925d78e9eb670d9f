package io.github.reactivelock.consul;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A crowd of claims of one client on one lock: what leaves for the agent at a time. */
class ManyWaitersTest extends Fixture {

    private static final int MANY = 400;

    @Test
    void aCrowdLeavesALittleAtATimeAndARenewalBeforeIt() {
        try (SlowAgent agent = new SlowAgent(server)) {
            ConsulLockBackend backend = opened(ConsulLockBackend.connect(
                    agent.address(), Consuls.patient().withCommandTimeout(Duration.ofMinutes(1))));
            Claim owner = claim();
            granted(Consuls.get(backend.claim(owner)));
            agent.holdUpClaims();
            List<Claim> waiting = Stream.generate(this::claim).limit(MANY).toList();

            List<CompletableFuture<ClaimResult>> answers = waiting.stream()
                    .map(claim -> backend.claim(claim).toFuture())
                    .toList();
            Consuls.until("claims have left", () -> agent.heldUp() >= Agents.COMMANDS);
            assertThat(Consuls.get(backend.renew(List.of(owner))).renewed()).isEqualTo(Set.of(owner.id()));
            assertThat(agent.heldUp()).as("of %d claims", MANY).isEqualTo(Agents.COMMANDS);
            assertThat(backend.holdsBack(waiting.get(MANY - 1))).isTrue();

            agent.letGo();
            assertThat(answers.stream().map(CompletableFuture::join)).allMatch(ClaimResult.Queued.class::isInstance);
            assertThat(backend.holdsBack(waiting.get(MANY - 1))).isFalse();
            closeAll();
        }
    }
}
