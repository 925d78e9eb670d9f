package io.github.reactivelock.consul;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.Share;
import java.util.Objects;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What is shown of a lock. */
class LookingTest extends Fixture {

    private Claim claim(Share share) {
        String id = UUID.randomUUID().toString();
        return new Claim(key, id, "a reader", LEASE, Claim.Mode.QUEUE, Claim.Keeping.RENEWED, share);
    }

    @Test
    void manyHoldersAreCountedAndTheNewestShown() {
        ConsulLockBackend backend = backend();
        for (int reader = 0; reader < 120; reader++) {
            granted(Consuls.get(backend.claim(claim(Share.ONE))));
        }
        assertThat(Consuls.get(backend.claim(claim(Share.WHOLE)))).isInstanceOf(ClaimResult.Queued.class);

        LockInfo.Held info = Consuls.get(backend.inspect(key)).held().orElseThrow();

        LockInfo.Shares shares = Objects.requireNonNull(info.shares());
        assertThat(info.waiters()).isEqualTo(1);
        assertThat(shares.holders()).isEqualTo(120);
        assertThat(shares.units()).isEqualTo(120);
        assertThat(shares.first()).hasSize(100);
        assertThat(shares.first().get(0).fencingToken()).isEqualTo(info.fencingToken());
    }
}
