package io.github.reactivelock.examples.failover;

import static io.github.reactivelock.examples.failover.Failover.KEY;
import static io.github.reactivelock.examples.failover.Failover.LEASE;
import static io.github.reactivelock.examples.failover.Failover.seconds;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.examples.Print;
import io.github.reactivelock.examples.failover.Failover.Outcome;
import java.time.Duration;
import java.util.List;
import reactor.core.publisher.Mono;

/** One Redis with a replica. The primary is killed while a lock is held, and the replica takes its place. */
final class WithReplica {

    private WithReplica() {}

    static Mono<Outcome> keepsWhatWasReplicated() {
        return Mono.defer(() -> {
            Print.line("One Redis with a replica that has seen the grant");
            return Mono.usingWhen(Pair.start(), pair -> on(pair, WithReplica::keep), Pair::stop);
        });
    }

    static Mono<Outcome> losesWhatWasNot() {
        return Mono.defer(() -> {
            Print.line("");
            Print.line("One Redis with a replica that was cut off before the grant");
            return Mono.usingWhen(Pair.start(), pair -> on(pair, WithReplica::lose), Pair::stop);
        });
    }

    private interface Scene {
        Mono<Outcome> play(Pair pair, LockClient holder, LockClient other);
    }

    private static Mono<Outcome> on(Pair pair, Scene scene) {
        return Mono.usingWhen(
                Mono.fromSupplier(() -> List.of(client("holder", pair), client("other", pair))),
                clients -> scene.play(pair, clients.get(0), clients.get(1)),
                clients -> clients.get(0).close().then(clients.get(1).close()));
    }

    private static LockClient client(String name, Pair pair) {
        return LockClient.builder(pair.backend())
                .name(name)
                .options(LockOptions.defaults().withLease(LEASE))
                .build();
    }

    private static Mono<Outcome> keep(Pair pair, LockClient holder, LockClient other) {
        return holder.acquire(KEY).flatMap(held -> {
            tell("holder has the lock", held);
            return pair.untilReplicated()
                    .then(pair.failOver())
                    .then(held.renew().retry(20))
                    .then(Mono.fromSupplier(() -> {
                        Print.line(
                                "  after the fail-over: held=%s, %.1f s of the lease left", held.isHeld(), left(held));
                        return held.isHeld();
                    }))
                    .flatMap(kept -> held.release()
                            .then(other.acquire(KEY))
                            .doOnNext(next -> tell("released; other has the lock", next))
                            .delayUntil(LockHandle::release)
                            .map(next -> new Outcome(List.of(held.fencingToken(), next.fencingToken()), kept)));
        });
    }

    private static Mono<Outcome> lose(Pair pair, LockClient holder, LockClient other) {
        return pair.cutOff().then(holder.acquire(KEY)).flatMap(held -> {
            tell("holder has the lock", held);
            return pair.failOver().then(Mono.defer(() -> {
                long promoted = System.nanoTime();
                Mono<Double> lost = held.lost().map(loss -> {
                    Print.line("  %.2f s: holder is told that it lost the lock: %s", seconds(promoted), loss.reason());
                    return seconds(promoted);
                });
                Mono<LockHandle> taken = other.acquire(KEY).doOnNext(next -> {
                    Print.line("  %.2f s: other has it under token %d", seconds(promoted), next.fencingToken());
                    Print.line("          holder's token %d is lower, so the resource refuses it", held.fencingToken());
                });
                return Mono.zip(lost, taken)
                        .delayUntil(both -> both.getT2().release())
                        .map(both -> new Outcome(
                                List.of(held.fencingToken(), both.getT2().fencingToken()), both.getT1() <= limit()));
            }));
        });
    }

    /** A forgotten hold ends at the latest with its lease; a slow machine gets as much time again. */
    private static double limit() {
        return 2 * LEASE.toMillis() / 1e3;
    }

    private static double left(LockHandle held) {
        Duration left = held.remaining();
        return left.toMillis() / 1e3;
    }

    private static void tell(String what, LockHandle held) {
        Print.line("  %s under token %d", what, held.fencingToken());
    }
}
