package io.github.reactivelock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LossReason;
import io.github.reactivelock.testservers.TcpProxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** How a client hears that its holds were ended by force. */
class NoticesTest extends EtcdFixture {

    private List<Claim> held(EtcdLockBackend backend, List<Long> tokens) {
        List<Claim> held = IntStream.range(0, 5)
                .mapToObj(i -> claim(key + i, Claim.Mode.QUEUE, LEASE, Claim.Keeping.ONCE))
                .toList();
        held.forEach(claim -> tokens.add(granted(Etcds.get(backend.claim(claim)))));
        return held;
    }

    private static Signal forced(Claim claim) {
        return new Signal.Suspect(claim.id(), LossReason.FORCED);
    }

    /** A notice takes the place of the one before. What is not renewed would not be asked about again. */
    @Test
    void allHoldsForcedWhileTheirClientIsCutOffAreReported() throws InterruptedException {
        try (TcpProxy proxy = TcpProxy.to(server.port())) {
            EtcdLockBackend backend = opened(patient("http://127.0.0.1:" + proxy.port()));
            EtcdLockBackend operator = backend();
            Etcds.get(backend.ready().thenReturn(true));
            Queue<Signal> signals = listen(backend);
            List<Long> tokens = new ArrayList<>();
            List<Claim> held = held(backend, tokens);

            proxy.cut();
            for (int i = 0; i < held.size(); i++) {
                assertThat(Etcds.get(operator.forceRelease(key + i, tokens.get(i))))
                        .isTrue();
            }
            proxy.mend();

            Etcds.until("all are told", () -> held.stream().allMatch(claim -> signals.contains(forced(claim))));
            held.forEach(claim -> Etcds.get(backend.release(claim)));
        }
    }
}
