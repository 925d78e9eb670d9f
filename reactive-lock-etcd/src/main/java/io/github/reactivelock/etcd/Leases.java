package io.github.reactivelock.etcd;

import io.github.reactivelock.spi.Claim;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The leases of this client: one for all claims with the same lease whose holds are renewed, and one of its own for
 * every other claim. A shared lease lives half a second longer than its claims ask for, at least, so that a question
 * sent for one of them serves all that ask in that time.
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

    private final Etcd etcd;
    private final Lease.Findings findings;
    private final Map<Long, Shared> shared = new ConcurrentHashMap<>();
    private final Set<Lease> open = ConcurrentHashMap.newKeySet();

    Leases(Etcd etcd, Lease.Findings findings) {
        this.etcd = etcd;
        this.findings = findings;
    }

    Mono<Lease> of(Claim claim) {
        if (claim.keeping() == Claim.Keeping.ONCE) {
            return grant(seconds(claim.lease()));
        }
        long seconds = seconds(claim.lease().plus(SLACK));
        return shared.compute(seconds, (time, present) -> {
                    if (present != null && !present.isOver()) {
                        return present;
                    }
                    if (present != null && present.granted != null) {
                        open.remove(present.granted);
                    }
                    return new Shared(grant(time));
                })
                .lease;
    }

    /** Ends a lease that is one claim's own. */
    Mono<Void> drop(Claim claim, @Nullable Lease lease) {
        return claim.keeping() == Claim.Keeping.ONCE && lease != null ? revoke(lease) : Mono.empty();
    }

    void forget(Lease lease) {
        open.remove(lease);
    }

    Mono<Void> revokeAll() {
        List<Lease> all = new ArrayList<>(open);
        return Flux.fromIterable(all).flatMap(this::revoke, 16).then();
    }

    private Mono<Void> revoke(Lease lease) {
        return Mono.defer(() -> {
            open.remove(lease);
            return etcd.revoke(lease.id).onErrorComplete();
        });
    }

    private Mono<Lease> grant(long seconds) {
        return Mono.defer(() -> {
            long askedAt = System.nanoTime();
            return etcd.grantLease(seconds).map(answer -> {
                Lease lease = new Lease(answer.getID(), Duration.ofSeconds(answer.getTTL()), askedAt, etcd, findings);
                open.add(lease);
                return lease;
            });
        });
    }

    private static long seconds(Duration time) {
        return time.plusSeconds(1).minusNanos(1).toSeconds();
    }
}
