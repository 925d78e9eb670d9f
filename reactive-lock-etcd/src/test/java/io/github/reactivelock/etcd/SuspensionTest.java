package io.github.reactivelock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.support.SuspendClock;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A machine that was suspended: its monotonic clock stood still, and the leases at etcd ran on. */
class SuspensionTest extends EtcdFixture {

    private static final String KEEP_ALIVES = "grpc_server_started_total{grpc_method=\"LeaseKeepAlive\"";

    private final AtomicLong wallMillis = new AtomicLong();
    private ClaimRegistry claims;

    /** Its clocks stand still, so that an answer of etcd is good for as long as no test lets time go by. */
    @BeforeEach
    void begin() {
        Etcd commands = new Etcd(ClientSource.of(etcd), PATIENT, new SuspendClock(() -> 0, wallMillis::get));
        KeyLayout names = new KeyLayout("reactivelock");
        claims = new ClaimRegistry(
                commands,
                new ClaimKeys(commands, names, () -> "me"),
                new SignalSink(commands, () -> names.notice("me")));
    }

    private void sleep() {
        wallMillis.addAndGet(LEASE.minusSeconds(1).toMillis());
    }

    @Test
    void aGrantAfterWakingIsNotCoveredByWhatEtcdSaidBefore() {
        Claim before = claim();
        Etcds.get(claims.claim(before));
        double asked = server.metric(KEEP_ALIVES);
        Claim covered = claim(key + "covered", before.mode(), LEASE, before.keeping());
        Etcds.get(claims.claim(covered));
        assertThat(server.metric(KEEP_ALIVES)).isEqualTo(asked);

        sleep();
        Claim after = claim(key + "after", before.mode(), LEASE, before.keeping());
        Etcds.get(claims.claim(after));

        assertThat(server.metric(KEEP_ALIVES)).isEqualTo(asked + 1);
        Etcds.get(claims.close());
    }

    @Test
    void aRenewalAfterWakingIsNotCoveredByWhatEtcdSaidBefore() {
        Claim held = claim();
        Etcds.get(claims.claim(held));
        double asked = server.metric(KEEP_ALIVES);

        sleep();

        assertThat(Etcds.get(claims.renew(List.of(held))).renewed()).containsExactly(held.id());
        assertThat(server.metric(KEEP_ALIVES)).isEqualTo(asked + 1);
        Etcds.get(claims.close());
    }
}
