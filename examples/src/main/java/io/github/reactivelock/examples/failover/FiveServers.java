package io.github.reactivelock.examples.failover;

import static io.github.reactivelock.examples.failover.Failover.KEY;
import static io.github.reactivelock.examples.failover.Failover.LEASE;
import static io.github.reactivelock.examples.failover.Failover.seconds;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.examples.Launcher;
import io.github.reactivelock.examples.Print;
import io.github.reactivelock.examples.RedisProcess;
import io.github.reactivelock.examples.failover.Failover.Outcome;
import io.github.reactivelock.lettuce.LettuceLockBackend;
import io.github.reactivelock.quorum.QuorumLockBackend;
import io.github.reactivelock.spi.QuorumNode;
import java.time.Duration;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A quorum of five. Two may die under a held lock. With the third the majority is gone; it comes back after a lease.
 */
final class FiveServers {

    private static final int SERVERS = 5;

    private final List<RedisProcess> servers;
    private final LockClient holder;
    private final LockClient other;

    private FiveServers(List<RedisProcess> servers) {
        this.servers = servers;
        this.holder = client("holder");
        this.other = client("other");
    }

    static Mono<Outcome> show() {
        return Mono.defer(() -> {
            Print.line("");
            Print.line("A quorum of five Redis servers, of which a majority decides");
            return Mono.usingWhen(
                    Flux.range(0, SERVERS).concatMap(i -> RedisProcess.start()).collectList(),
                    servers -> Mono.usingWhen(
                            Mono.fromSupplier(() -> new FiveServers(servers)), FiveServers::play, FiveServers::close),
                    servers -> Flux.fromIterable(servers)
                            .flatMap(RedisProcess::stop)
                            .then());
        });
    }

    private LockClient client(String name) {
        QuorumNode[] nodes = servers.stream()
                .map(server -> LettuceLockBackend.connect(server.uri()))
                .toArray(QuorumNode[]::new);
        return LockClient.builder(QuorumLockBackend.of(nodes).withLongestLease(LEASE))
                .name(name)
                .options(LockOptions.defaults().withLease(LEASE))
                .build();
    }

    private Mono<Void> close() {
        return holder.close().then(other.close());
    }

    private Mono<Outcome> play() {
        long started = System.nanoTime();
        Print.line(
                "  they have just started and are not counted before they are up for a lease, %d s", LEASE.toSeconds());
        return holder.acquire(KEY).flatMap(held -> {
            Print.line("  %.1f s: holder has the lock under token %d", seconds(started), held.fencingToken());
            return killAndWait(1, held)
                    .then(killAndWait(2, held))
                    .then(other.tryAcquire(KEY))
                    .map(LockHandle::fencingToken)
                    .defaultIfEmpty(0L)
                    .doOnNext(token -> Print.line("  other asks: %s", token == 0 ? "another client has it" : "gets it"))
                    .map(token -> held.isHeld() && token == 0)
                    .flatMap(kept ->
                            loseTheMajority(held).map(rest -> new Outcome(rest.tokens(), kept && rest.asPromised())));
        });
    }

    private Mono<Void> killAndWait(int number, LockHandle held) {
        return kill(number)
                .then(Mono.delay(LEASE.plus(Duration.ofMillis(200))))
                .doOnNext(later -> Print.line(
                        "    a lease later: held=%s, %.1f s left by its last renewal",
                        held.isHeld(), held.remaining().toMillis() / 1e3))
                .then();
    }

    private Mono<Void> kill(int number) {
        return servers.get(number - 1)
                .kill()
                .then(Mono.fromRunnable(
                        () -> Print.line("  kill -9 server %d; %d of %d are left", number, SERVERS - number, SERVERS)));
    }

    private Mono<Outcome> loseTheMajority(LockHandle held) {
        return kill(3).then(Mono.defer(() -> {
            long killed = System.nanoTime();
            return held.lost()
                    .doOnNext(loss -> Print.line(
                            "    %.1f s: holder is told that it lost the lock: %s", seconds(killed), loss.reason()))
                    .then(other.tryAcquire(KEY))
                    .map(got -> false)
                    .onErrorResume(refused -> {
                        Print.line("    other asks: %s", firstClause(Launcher.explain(refused)));
                        return Mono.just(true);
                    })
                    // The two servers left may still know the holder, for the margin between its lease and theirs.
                    .switchIfEmpty(Mono.fromSupplier(() -> {
                        Print.line("    other asks: does not get it from those that are left");
                        return true;
                    }))
                    .flatMap(refused -> comeBack(held, refused));
        }));
    }

    private static String firstClause(String message) {
        return message.replaceFirst(";.*", "");
    }

    private Mono<Outcome> comeBack(LockHandle held, boolean refused) {
        return Mono.defer(() -> {
            long restarting = System.nanoTime();
            return servers.get(2)
                    .restartEmpty()
                    .doOnSuccess(up -> Print.line("  server 3 is started again, empty; other waits for the lock"))
                    .then(other.acquire(KEY))
                    .delayUntil(LockHandle::release)
                    .map(next -> {
                        double waited = seconds(restarting);
                        Print.line("    %.1f s: other has it under token %d", waited, next.fencingToken());
                        return new Outcome(
                                List.of(held.fencingToken(), next.fencingToken()),
                                refused && waited >= LEASE.toMillis() / 1e3);
                    });
        });
    }
}
