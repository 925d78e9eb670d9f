package io.github.reactivelock.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.PutOption;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.support.Departures.Rank;
import io.github.reactivelock.spi.support.FireAndForget;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The leases of this client: one for all claims with the same lease whose holds are renewed, and one of its own for
 * every other claim. A shared lease lives half a second longer than its claims ask for, at least, so that a question
 * sent for one of them serves all that ask in that time. Each lease has a key of its own, its marker, whose deletion is
 * watched for: so a revoked lease is noticed at once, with one watch for all holds of the client.
 */
final class Leases {

    private static final Duration SLACK = Duration.ofMillis(500);

    /** A shared lease, asked for once. */
    private static final class Shared {
        final Mono<Lease> lease;
        private volatile boolean failed;
        private volatile @Nullable Lease granted;

        Shared(Mono<Lease> grant) {
            this.lease = grant.doOnNext(lease -> granted = lease)
                    .doOnError(error -> failed = true)
                    .cache();
        }

        boolean isOver() {
            Lease present = granted;
            return failed || (present != null && present.isOver());
        }
    }

    /** A lease and the revision at which its marker was put. */
    private record Marked(Lease lease, long revision) {}

    private final Etcd etcd;
    private final Function<String, ByteSequence> markers;
    private final ClaimRegistry registry;
    private final Map<ByteSequence, Marked> marked = new ConcurrentHashMap<>();
    private final Map<Long, Shared> shared = new ConcurrentHashMap<>();
    private final Set<Lease> open = ConcurrentHashMap.newKeySet();

    Leases(Etcd etcd, Function<String, ByteSequence> markers, ClaimRegistry registry) {
        this.etcd = etcd;
        this.markers = markers;
        this.registry = registry;
    }

    Mono<Lease> of(ClaimState state) {
        Claim claim = state.claim;
        if (claim.keeping() == Claim.Keeping.ONCE) {
            return grant(seconds(claim.lease()), id -> state.tail);
        }
        long seconds = seconds(claim.lease().plus(SLACK));
        return shared.compute(seconds, (time, present) -> {
                    if (present != null && !present.isOver()) {
                        return present;
                    }
                    if (present != null && present.granted != null) {
                        open.remove(present.granted);
                    }
                    return new Shared(grant(time, Long::toHexString));
                })
                .lease;
    }

    /** A lease that outlasts this client, for a key that is to stay for a while. */
    Mono<Long> outlasting(Duration time) {
        return etcd.grantLease(seconds(time)).map(answer -> answer.getID());
    }

    /** Ends a lease that is one claim's own. */
    Mono<Void> drop(Claim claim, @Nullable Lease lease) {
        return claim.keeping() == Claim.Keeping.ONCE && lease != null ? revoke(lease) : Mono.empty();
    }

    void forget(Lease lease) {
        open.remove(lease);
        marked.values().removeIf(each -> each.lease == lease);
    }

    /** A key of this client is gone. If it was the marker of a lease that is in use, that lease was revoked. */
    void deleted(ByteSequence name, long revision) {
        Marked known = marked.get(name);
        if (known != null && revision > known.revision) {
            known.lease.end();
        }
    }

    Mono<Void> revokeAll() {
        List<Lease> all = new ArrayList<>(open);
        return Flux.fromIterable(all).flatMap(this::revoke, 16).then();
    }

    private Mono<Void> revoke(Lease lease) {
        return Mono.defer(() -> {
            forget(lease);
            return etcd.revoke(lease.id).onErrorComplete();
        });
    }

    /** Nothing waits for the marker: until it is there, the next renewal notices what it would have told. */
    private void mark(Lease lease, ByteSequence marker) {
        PutOption bound = PutOption.builder().withLeaseId(lease.id).build();
        FireAndForget.run(
                "marking a lease",
                etcd.txn(Rank.HOLD, txn -> txn.Then(Op.put(marker, ByteSequence.EMPTY, bound)))
                        .doOnNext(put -> {
                            if (open.contains(lease)) {
                                marked.put(
                                        marker,
                                        new Marked(lease, put.getHeader().getRevision()));
                            }
                        })
                        .onErrorComplete()
                        .then());
    }

    /** A marker has a name that no earlier lease had: a late put for that one would bind it to the wrong lease. */
    private Mono<Lease> grant(long seconds, Function<Long, String> name) {
        return Mono.defer(() -> {
            long askedAt = etcd.now();
            return etcd.grantLease(seconds).map(answer -> {
                Lease lease = new Lease(answer.getID(), Duration.ofSeconds(answer.getTTL()), askedAt, etcd, registry);
                open.add(lease);
                mark(lease, markers.apply(name.apply(answer.getID())));
                return lease;
            });
        });
    }

    private static long seconds(Duration time) {
        return time.plusSeconds(1).minusNanos(1).toSeconds();
    }
}
