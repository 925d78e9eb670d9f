package io.github.reactivelock.etcd;

import io.etcd.jetcd.KeyValue;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.FireAndForget;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * How a waiting claim learns that it is its turn: by a watch on the key before its own, or from a claim of this client.
 */
final class Turns {

    private static final Duration PAUSE_AFTER_A_BROKEN_WATCH = Duration.ofMillis(100);

    private final ClaimKeys keys;
    private final SignalSink pushes;
    private final Own own;

    /** The claims of this client. */
    interface Own {
        /** The one that a key was put for, or null if the key is another client's. */
        @Nullable
        ClaimState of(KeyValue key);
    }

    Turns(ClaimKeys keys, SignalSink pushes, Own own) {
        this.keys = keys;
        this.pushes = pushes;
        this.own = own;
    }

    /** Waits until the key before this claim's is gone. */
    void follow(ClaimState standing, long revision, KeyValue predecessor) {
        ClaimState before = own.of(predecessor);
        Disposable.Swap watch = standing.follow(revision, Following.of(predecessor, before));
        if (watch != null && (before == null || !before.isFollowedBy(standing, predecessor.getCreateRevision()))) {
            Mono<Void> news = keys.untilGone(predecessor)
                    .onErrorResume(error -> Mono.delay(PAUSE_AFTER_A_BROKEN_WATCH, DriverThreads.timer())
                            .then())
                    .then(Mono.defer(() -> {
                        standing.followed(watch);
                        return lookAfterwards(standing, revision);
                    }));
            boolean unused = watch.update(FireAndForget.run("waiting for a lock in etcd", news));
        }
    }

    private Mono<Void> lookAfterwards(ClaimState standing, long revision) {
        return keys.look(standing, revision)
                .flatMap(line -> moved(standing, revision, line))
                .onErrorResume(error -> Mono.delay(PAUSE_AFTER_A_BROKEN_WATCH, DriverThreads.timer())
                        .thenReturn(recheck(standing)))
                .doOnNext(pushes::push)
                .then();
    }

    private Mono<Signal> moved(ClaimState standing, long revision, QueuePosition line) {
        if (line.revision() != revision) {
            standing.vanished(revision);
            return Mono.just(recheck(standing));
        }
        if (line.predecessor() != null) {
            follow(standing, revision, line.predecessor());
            return Mono.empty();
        }
        return standing.own(revision)
                ? Mono.just(new Signal.Grant(standing.claim.id(), ClaimRegistry.token(revision)))
                : Mono.empty();
    }

    static Signal recheck(ClaimState standing) {
        return new Signal.Recheck(standing.claim.key());
    }

    /** A claim of this client that is next needs no watch and no question: the deletion has shown it. */
    void tellSuccessor(ClaimState standing, ClaimKeys.Deleted deleted) {
        ClaimState next = standing.successor();
        if (next == null || !next.isFollowing(standing)) { // it has lost its key, and stands elsewhere
            return;
        }
        long revision = deleted.revisionIfFirst(next.name);
        if (revision != 0 && next.own(revision)) {
            next.unfollow();
            pushes.push(new Signal.Grant(next.claim.id(), ClaimRegistry.token(revision)));
        } else if (!standing.splice(next)) {
            tellSuccessor(standing);
        }
    }

    /** The claim behind one that has left, or lost its key, looks where it stands. */
    void tellSuccessor(ClaimState standing) {
        ClaimState next = standing.successor();
        if (next != null && next.isWaiting()) {
            next.unfollow();
            Disposable unused = FireAndForget.run("looking whose turn it is", lookAfterwards(next, next.revision()));
        }
    }
}
