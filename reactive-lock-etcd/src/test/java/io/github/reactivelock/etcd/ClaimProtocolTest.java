package io.github.reactivelock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.Client;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.api.WatchRequest;
import io.etcd.jetcd.options.LeaseOption;
import io.etcd.jetcd.options.PutOption;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LossReason;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.MethodDescriptor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;

/** The protocol's rules, each tried on a real etcd. */
class ClaimProtocolTest extends EtcdFixture {

    @Test
    void theTokenIsTheCreateRevisionOfTheClaimsKey() {
        Claim claim = claim();

        long token = granted(Etcds.get(backend().claim(claim)));

        KeyValue kept = Etcds.claims(etcd).get(0);
        assertThat(kept.getKey().toString()).matches("reactivelock/" + key + "/[^/ ]+\\.0\\.0");
        assertThat(ClaimValue.of(kept).claimId()).isEqualTo(claim.id());
        assertThat(token).isEqualTo(kept.getCreateRevision() << LockBackend.PASS_BITS);
        assertThat(kept.getLease()).isNotZero();
    }

    @Test
    void aClaimAskedForTwiceIsOneKeyWithOneToken() {
        EtcdLockBackend backend = backend();
        Claim claim = claim();

        long token = granted(Etcds.get(backend.claim(claim)));

        assertThat(granted(Etcds.get(backend.claim(claim)))).isEqualTo(token);
        assertThat(Etcds.claims(etcd)).hasSize(1);
    }

    @Test
    void aClaimOfWhichNothingIsKnownAnyMoreIsReleasedByItsId() {
        Claim claim = claim();
        Claim next = claim();
        EtcdLockBackend backend = backend();
        Etcds.get(backend.claim(claim));
        Etcds.get(backend.claim(next));
        EtcdLockBackend forgetful = backend();

        // As after a release that failed, and may have gone through or not.
        assertThat(Etcds.get(forgetful.release(claim))).isTrue();
        assertThat(Etcds.get(forgetful.release(claim))).isFalse();

        assertThat(Etcds.claims(etcd))
                .extracting(kv -> ClaimValue.of(kv).claimId())
                .containsExactly(next.id());
    }

    @Test
    void aLockReusesItsKeysNamesAndDoesNotBecomeSlower() {
        EtcdLockBackend backend = backend();
        Set<String> names = new HashSet<>();
        for (int i = 0; i < 20; i++) {
            Claim owner = claim();
            Claim waiting = claim();
            long token = granted(Etcds.get(backend.claim(owner)));
            Etcds.get(backend.claim(waiting));

            Etcds.claims(etcd).forEach(kv -> names.add(kv.getKey().toString()));

            assertThat(token).isEqualTo(Etcds.oldest(etcd).getCreateRevision() << LockBackend.PASS_BITS);
            assertThat(Etcds.get(backend.release(owner))).isTrue();
            assertThat(Etcds.get(backend.release(waiting))).isTrue();
        }
        assertThat(names).hasSize(2);
    }

    @Test
    void aWatchBeginsInThePresentBecauseEtcdIsSlowToServeThePast() throws InterruptedException {
        Queue<Long> beginnings = new ConcurrentLinkedQueue<>();
        EtcdLockBackend waiting = opened(EtcdLockBackend.connect(
                Client.builder().endpoints(server.uri()).interceptors(List.of(new WatchedFrom(beginnings))),
                EtcdBackendOptions.defaults().withCommandTimeout(Duration.ofSeconds(30))));
        Queue<Signal> signals = listen(waiting);
        EtcdLockBackend owning = backend();
        Claim owner = claim();
        Claim next = claim();
        Etcds.get(owning.claim(owner));
        Etcds.get(waiting.claim(next));

        Etcds.until("the notices and the owner are watched", () -> beginnings.size() == 2);
        Etcds.get(owning.release(owner));

        Etcds.until("the next is granted", () -> isGranted(signals, next.id()));
        assertThat(beginnings).containsOnly(0L);
    }

    /** Writes down at which revision each watch is to begin, zero for the present. */
    private record WatchedFrom(Queue<Long> beginnings) implements ClientInterceptor {
        @Override
        public <Q, A> ClientCall<Q, A> interceptCall(
                MethodDescriptor<Q, A> method, CallOptions options, Channel channel) {
            return new SimpleForwardingClientCall<>(channel.newCall(method, options)) {
                @Override
                public void sendMessage(Q message) {
                    if (message instanceof WatchRequest request && request.hasCreateRequest()) {
                        beginnings.add(request.getCreateRequest().getStartRevision());
                    }
                    super.sendMessage(message);
                }
            };
        }
    }

    @Test
    void aKeyThatAppearsLateAtAPlaceInUseAgainIsRemoved() {
        EtcdLockBackend backend = backend();
        Claim earlier = claim();
        Etcds.get(backend.claim(earlier));
        KeyValue key = Etcds.claims(etcd).get(0);
        Etcds.get(backend.release(earlier));

        // As a repeated put would that arrives when its claim has ended.
        Etcds.get(etcd.getKVClient()
                .put(
                        key.getKey(),
                        key.getValue(),
                        PutOption.builder().withLeaseId(key.getLease()).build()));
        Claim claim = claim();
        long token = granted(Etcds.get(backend.claim(claim)));

        assertThat(Etcds.claims(etcd)).singleElement().satisfies(kept -> {
            assertThat(ClaimValue.of(kept).claimId()).isEqualTo(claim.id());
            assertThat(token).isEqualTo(kept.getCreateRevision() << LockBackend.PASS_BITS);
        });
        assertThat(Etcds.get(backend.release(earlier))).isFalse();
        assertThat(Etcds.get(backend.release(claim))).isTrue();
    }

    @Test
    void aBusyTryWritesNothing() throws InterruptedException {
        Etcds.get(backend().claim(claim()));
        Etcds.untilMarked(etcd);
        Claim busy = claim(key, Claim.Mode.TRY, LEASE, Claim.Keeping.ONCE);
        EtcdLockBackend trying = backend();
        long before = revision();

        assertThat(Etcds.get(trying.claim(busy))).isEqualTo(new ClaimResult.Busy());

        assertThat(revision()).isEqualTo(before);
        assertThat(Etcds.claims(etcd)).hasSize(1);
    }

    private long revision() {
        return Etcds.get(etcd.getKVClient().get(KeyLayout.bytes("x")))
                .getHeader()
                .getRevision();
    }

    @Test
    void aReleaseWakesTheNextInLineAndNobodyElse() throws InterruptedException {
        EtcdLockBackend backend = backend();
        Queue<Signal> signals = listen(backend);
        List<Claim> line = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            line.add(claim());
            Etcds.get(backend.claim(line.get(i)));
        }
        Etcds.untilMarked(etcd);
        // Pushes of the watch that begins last are all that could still be on their way.
        double before = server.metric("etcd_debugging_mvcc_events_total");

        for (int i = 0; i < 19; i++) {
            assertThat(Etcds.get(backend.release(line.get(i)))).isTrue();
            String next = line.get(i + 1).id();
            Etcds.until("the next is granted", () -> isGranted(signals, next));
        }

        assertThat(server.metric("etcd_debugging_mvcc_events_total") - before).isLessThanOrEqualTo(19);
        assertThat(signals.stream().filter(Signal.Grant.class::isInstance)).hasSize(19);
        assertThat(signals.stream()
                        .filter(Signal.Grant.class::isInstance)
                        .map(grant -> ((Signal.Grant) grant).fencingToken()))
                .isSorted();
    }

    private static boolean isGranted(Queue<Signal> signals, String id) {
        return signals.stream()
                .anyMatch(signal ->
                        signal instanceof Signal.Grant grant && grant.claimId().equals(id));
    }

    @Test
    void aWaiterInTheMiddleThatLeavesHandsItsPredecessorOn() throws InterruptedException {
        EtcdLockBackend backend = backend();
        Queue<Signal> signals = listen(backend);
        Claim owner = claim();
        Claim leaving = claim();
        Claim last = claim();
        for (Claim claim : List.of(owner, leaving, last)) {
            Etcds.get(backend.claim(claim));
        }

        assertThat(Etcds.get(backend.release(leaving))).isFalse();
        assertThat(Etcds.get(backend.release(owner))).isTrue();

        Etcds.until("the last is granted", () -> isGranted(signals, last.id()));
    }

    @Test
    void aReleaseThatIsRepeatedNeverTouchesTheSuccessor() {
        EtcdLockBackend backend = backend();
        Claim first = claim();
        Claim next = claim();
        Etcds.get(backend.claim(first));
        Etcds.get(backend.claim(next));

        assertThat(Etcds.get(backend.release(first))).isTrue();
        assertThat(Etcds.get(backend.release(first))).isFalse();

        assertThat(Etcds.get(backend.claim(next))).isInstanceOf(ClaimResult.Granted.class);
    }

    @Test
    void aHoldThatIsNotRenewedHasALeaseOfItsOwn() throws InterruptedException {
        EtcdLockBackend backend = backend();
        Duration brief = Duration.ofSeconds(6);
        Claim renewed = claim(key + "renewed", Claim.Mode.QUEUE, brief, Claim.Keeping.RENEWED);
        Claim once = claim(key + "once", Claim.Mode.QUEUE, brief, Claim.Keeping.ONCE);
        Etcds.get(backend.claim(once));
        Etcds.get(backend.claim(renewed));

        Etcds.until("the other one has run out", () -> {
            assertThat(Etcds.get(backend.renew(List.of(renewed))).renewed()).containsExactly(renewed.id());
            return Etcds.claims(etcd).size() == 1;
        });

        assertThat(Etcds.get(backend.renew(List.of(once))).lost()).containsEntry(once.id(), LossReason.SESSION_LOST);
    }

    @Test
    void theLeaseOfAHoldThatIsNotRenewedEndsWithIt() {
        EtcdLockBackend backend = backend();
        Claim once = claim(key, Claim.Mode.QUEUE, LEASE, Claim.Keeping.ONCE);
        Etcds.get(backend.claim(once));
        long lease = Etcds.claims(etcd).get(0).getLease();

        Etcds.get(backend.release(once));

        assertThat(Etcds.get(etcd.getLeaseClient().timeToLive(lease, LeaseOption.DEFAULT))
                        .getTTL())
                .isEqualTo(-1);
    }

    @Test
    void aForcedReleaseIsPushedToTheOwner() throws InterruptedException {
        EtcdLockBackend backend = backend();
        Queue<Signal> signals = listen(backend);
        Claim held = claim();
        long token = granted(Etcds.get(backend.claim(held)));

        assertThat(Etcds.get(backend().forceRelease(key, token))).isTrue();

        Signal suspicion = new Signal.Suspect(held.id(), LossReason.FORCED);
        Etcds.until("the owner is told", () -> signals.contains(suspicion));
        assertThat(Etcds.get(backend.renew(List.of(held))).lost()).containsKey(held.id());
    }

    @Test
    void aForgedNoticeIsCheckedAndDropped() throws InterruptedException {
        EtcdLockBackend backend = backend();
        Queue<Signal> signals = listen(backend);
        Claim held = claim();
        Etcds.get(backend.claim(held));
        String value = Etcds.claims(etcd).get(0).getValue().toString();
        String session = value.substring(0, value.indexOf(' '));

        Etcds.get(etcd.getKVClient().put(new KeyLayout("reactivelock").notice(session), KeyLayout.bytes(held.id())));
        Etcds.get(etcd.getKVClient().put(new KeyLayout("reactivelock").notice(session), KeyLayout.bytes("nonsense")));

        assertThat(Etcds.get(backend.renew(List.of(held))).renewed()).containsExactly(held.id());
        assertThat(signals).noneMatch(Signal.Suspect.class::isInstance);
    }
}
