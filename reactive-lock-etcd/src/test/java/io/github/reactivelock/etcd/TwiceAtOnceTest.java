package io.github.reactivelock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.Client;
import io.etcd.jetcd.KeyValue;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.support.SuspendClock;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.MethodDescriptor;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A claim that is asked about while earlier questions of it are on their way, and whose answers come in any order. */
class TwiceAtOnceTest extends EtcdFixture {

    private static final String LEFT = "etcd_debugging_lease_";

    private double leases() {
        return server.metric(LEFT + "granted_total") - server.metric(LEFT + "revoked_total");
    }

    /** Each question had a lease of its own then, and deleted the key that another had been granted the lock for. */
    @Test
    void aClaimWithItsOwnLeaseHasOneKeyThoughAskedOften() throws InterruptedException {
        EtcdLockBackend backend = backend();
        for (int round = 0; round < 20; round++) {
            double before = leases();
            Claim claim = claim(key + round, Claim.Mode.QUEUE, LEASE, Claim.Keeping.ONCE);

            List<Long> tokens =
                    IntStream.range(0, 3)
                            .mapToObj(question -> backend.claim(claim).toFuture())
                            .toList()
                            .stream()
                            .map(answer -> granted(Etcds.get(answer)))
                            .toList();

            KeyValue there = Etcds.oldest(etcd);
            assertThat(tokens).containsOnly(ClaimRegistry.token(there.getCreateRevision()));
            Etcds.until("the other leases are gone", () -> leases() == before + 1);
            assertThat(Etcds.get(backend.release(claim))).isTrue();
        }
    }

    /** Holds up questions whether a lease lasts. */
    private static final class KeepAlives implements ClientInterceptor {

        final CompletableFuture<Void> go = new CompletableFuture<>();
        final CompletableFuture<Void> asked = new CompletableFuture<>();

        @Override
        public <Q, A> ClientCall<Q, A> interceptCall(MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
            return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
                @Override
                public void sendMessage(Q message) {
                    late(() -> super.sendMessage(message));
                }

                @Override
                public void halfClose() {
                    late(super::halfClose);
                }

                private void late(Runnable step) {
                    if (method.getFullMethodName().endsWith("LeaseKeepAlive")) {
                        asked.complete(null);
                        CompletableFuture<Void> unused = go.thenRun(step);
                    } else {
                        step.run();
                    }
                }
            };
        }
    }

    @Test
    void aLeaseRevokedBetweenPutAndAnswerIsReplaced() throws InterruptedException {
        AtomicLong wallMillis = new AtomicLong();
        KeepAlives keepAlives = new KeepAlives();
        try (Client slow =
                Client.builder().endpoints(server.uri()).interceptor(keepAlives).build()) {
            Etcd commands = new Etcd(ClientSource.of(slow), PATIENT, new SuspendClock(() -> 0, wallMillis::get));
            KeyLayout names = new KeyLayout("reactivelock");
            ClaimRegistry claims = new ClaimRegistry(
                    commands,
                    new ClaimKeys(commands, names, () -> "me"),
                    new SignalSink(commands, () -> names.notice("me")));
            Claim earlier = claim(key + "earlier", Claim.Mode.QUEUE, LEASE, Claim.Keeping.RENEWED);
            Etcds.get(claims.claim(earlier));
            Etcds.get(claims.release(earlier));
            wallMillis.addAndGet(LEASE.toMillis() / 2); // so that its lease is asked about

            CompletableFuture<ClaimResult> late = claims.claim(claim()).toFuture();
            Etcds.until("it is put", () -> Etcds.claims(etcd).size() == 1);
            Etcds.get(keepAlives.asked);
            Etcds.get(etcd.getLeaseClient().revoke(Etcds.oldest(etcd).getLease()));
            keepAlives.go.complete(null);

            assertThat(granted(Etcds.get(late)))
                    .isEqualTo(ClaimRegistry.token(Etcds.oldest(etcd).getCreateRevision()));
            Etcds.get(claims.close());
        }
    }
}
