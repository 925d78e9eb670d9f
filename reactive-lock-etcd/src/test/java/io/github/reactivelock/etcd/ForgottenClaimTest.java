package io.github.reactivelock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.options.GetOption;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Claims whose lease is kept alive for others, or is not kept alive any more. */
class ForgottenClaimTest extends EtcdFixture {

    private static final Duration SHORT = Duration.ofSeconds(7);

    private Claim claim(String key) {
        return claim(key, Claim.Mode.QUEUE, SHORT, Claim.Keeping.RENEWED);
    }

    /** The lock client says no more of a claim whose lease must be over. */
    @Test
    void anUnrenewedHoldEndsThoughItsLeaseIsKeptForOthers() throws InterruptedException {
        EtcdLockBackend backend = backend();
        Queue<Signal> signals = listen(backend);
        Claim renewed = claim(key + "renewed");
        Claim silent = claim(key);
        assertThat(granted(Etcds.get(backend.claim(renewed)))).isPositive();
        assertThat(granted(Etcds.get(backend.claim(silent)))).isPositive();

        untilOneIsLeft(backend, renewed);

        assertThat(Etcds.claims(etcd).get(0).getKey().toString()).contains(key + "renewed");
        assertThat(Etcds.get(backend.renew(List.of(silent))).lost()).containsEntry(silent.id(), LossReason.EXPIRED);
        Etcds.until("its owner is told", () -> signals.contains(new Signal.Suspect(silent.id(), LossReason.EXPIRED)));
    }

    @Test
    void aForgottenWaitEndsThoughItsLeaseIsKeptForOthers() throws InterruptedException {
        EtcdLockBackend backend = backend();
        Claim renewed = claim(key);
        Claim silent = claim(key);
        assertThat(granted(Etcds.get(backend.claim(renewed)))).isPositive();
        assertThat(Etcds.get(backend.claim(silent))).isInstanceOf(ClaimResult.Queued.class);

        untilOneIsLeft(backend, renewed);

        assertThat(Etcds.get(backend.claim(silent))).as("it comes again").isInstanceOf(ClaimResult.Queued.class);
    }

    private void untilOneIsLeft(EtcdLockBackend backend, Claim renewed) throws InterruptedException {
        Etcds.until("the other one is over", () -> {
            assertThat(Etcds.get(backend.renew(List.of(renewed))).renewed()).containsExactly(renewed.id());
            return Etcds.claims(etcd).size() == 1;
        });
    }

    /**
     * An operator deleted the marker only. From then on that lease is not kept alive, and whatever is bound to it goes.
     */
    @Test
    void aClaimIsNotLeftOnALeaseThatIsTakenToBeGone() throws InterruptedException {
        EtcdLockBackend backend = backend();
        Queue<Signal> signals = listen(backend);
        Claim owner = claim();
        EtcdLockBackend another = backend();
        assertThat(granted(Etcds.get(another.claim(owner)))).isPositive();
        Claim waiting = claim();
        assertThat(Etcds.get(backend.claim(waiting))).isInstanceOf(ClaimResult.Queued.class);
        KeyValue put = claimOf(waiting);
        signals.clear();
        Etcds.until("its lease is marked", () -> !markers(put.getLease()).isEmpty());

        Etcds.get(etcd.getKVClient().delete(markers(put.getLease()).get(0).getKey()));
        Etcds.until("the backend knows", () -> signals.contains(new Signal.Reconnected()));
        assertThat(Etcds.get(backend.claim(waiting))).isInstanceOf(ClaimResult.Queued.class);

        assertThat(claimOf(waiting).getLease()).isNotEqualTo(put.getLease());
        assertThat(Etcds.get(another.release(owner))).isTrue();
    }

    /** All that waits or is held would be asked about. */
    @Test
    void theEndOfALeaseThatNoClaimUsesIsNoNews() throws InterruptedException {
        EtcdLockBackend backend = backend();
        Queue<Signal> signals = listen(backend);
        Claim held = claim(key, Claim.Mode.QUEUE, LEASE, Claim.Keeping.RENEWED);
        long token = granted(Etcds.get(backend.claim(held)));
        Claim brief = claim(key + "brief");
        assertThat(granted(Etcds.get(backend.claim(brief)))).isPositive();
        long lease = claimOf(brief).getLease();
        Etcds.until("its lease is marked", () -> !markers(lease).isEmpty());
        assertThat(Etcds.get(backend.release(brief))).isTrue();
        Etcds.until("its lease is gone", () -> markers(lease).isEmpty());

        assertThat(Etcds.get(backend().forceRelease(key, token))).isTrue();
        Etcds.until(
                "what came later is told", () -> signals.contains(new Signal.Suspect(held.id(), LossReason.FORCED)));

        assertThat(signals).containsOnlyOnce(new Signal.Reconnected());
    }

    private KeyValue claimOf(Claim claim) {
        return Etcds.claims(etcd).stream()
                .filter(kv -> ClaimValue.of(kv).claimId().equals(claim.id()))
                .findAny()
                .orElseThrow();
    }

    private List<KeyValue> markers(long lease) {
        GetOption all = GetOption.builder().isPrefix(true).build();
        return Etcds.get(Mono.fromFuture(etcd.getKVClient().get(KeyLayout.bytes("reactivelock/!"), all)))
                .getKvs()
                .stream()
                .filter(kv -> kv.getLease() == lease)
                .toList();
    }
}
