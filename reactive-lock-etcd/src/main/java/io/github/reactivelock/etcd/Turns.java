package io.github.reactivelock.etcd;

import io.etcd.jetcd.KeyValue;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.FireAndForget;
import java.time.Duration;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * How a waiting claim learns that it is its turn: by a watch on the key before its own, or from a claim of this client.
 */
final class Turns {

    private static final Duration PAUSE_AFTER_A_BROKEN_WATCH = Duration.ofMillis(100);

    private final ClaimKeys keys;
    private final SignalSink pushes;
    private final ClaimRegistry registry;

    Turns(ClaimKeys keys, SignalSink pushes, ClaimRegistry registry) {
        this.keys = keys;
        this.pushes = pushes;
        this.registry = registry;
    }

    /** Waits until the key before this claim's is gone. */
    void follow(ClaimState state, long revision, KeyValue predecessor) {
        ClaimState before = registry.own(predecessor);
        Disposable.Swap watch = state.follow(revision, Following.of(predecessor, before));
        if (watch != null && (before == null || !before.isFollowedBy(state, predecessor.getCreateRevision()))) {
            Mono<Void> news = keys.untilGone(predecessor)
                    .onErrorResume(error -> Mono.delay(PAUSE_AFTER_A_BROKEN_WATCH, DriverThreads.timer())
                            .then())
                    .then(Mono.defer(() -> {
                        state.followed(watch);
                        return lookAfterwards(state, revision);
                    }));
            watch.update(FireAndForget.cancellable("waiting for a lock in etcd", news));
        }
    }

    private Mono<Void> lookAfterwards(ClaimState state, long revision) {
        return keys.look(state, revision)
                .flatMap(position -> moved(state, revision, position))
                .onErrorResume(error -> Mono.delay(PAUSE_AFTER_A_BROKEN_WATCH, DriverThreads.timer())
                        .thenReturn(recheck(state)))
                .doOnNext(pushes::push)
                .then();
    }

    private Mono<Signal> moved(ClaimState state, long revision, QueuePosition position) {
        if (position.revision() != revision) {
            state.vanished(revision);
            return Mono.just(recheck(state));
        }
        if (position.predecessor() != null) {
            follow(state, revision, position.predecessor());
            callBack(position);
            return Mono.empty();
        }
        return state.own(revision)
                ? Mono.just(new Signal.Grant(state.claim.id(), ClaimRegistry.token(revision)))
                : Mono.empty();
    }

    /** Who stands directly behind an owner that can be called back asks for the lock. */
    void callBack(QueuePosition position) {
        KeyValue called = position.recallable();
        if (called != null) {
            FireAndForget.run("calling a lock back", callBack(called));
        }
    }

    /** One of this client needs no command. */
    Mono<Void> callBack(KeyValue owner) {
        return Mono.defer(() -> {
            ClaimState own = registry.own(owner);
            if (own == null) {
                return keys.callBack(owner);
            }
            pushes.push(new Signal.Recall(own.claim.id()));
            return Mono.empty();
        });
    }

    static Signal recheck(ClaimState state) {
        return new Signal.Recheck(state.claim.key());
    }

    /** A claim of this client that is next needs no watch and no question: the deletion has shown it. */
    void tellSuccessor(ClaimState state, ClaimKeys.Deleted deleted) {
        ClaimState next = state.successor();
        if (next == null || !next.isFollowing(state)) { // it has lost its key, and stands elsewhere
            return;
        }
        long revision = deleted.revisionIfFirst(next.name);
        if (revision != 0 && next.own(revision)) {
            next.unfollow();
            pushes.push(new Signal.Grant(next.claim.id(), ClaimRegistry.token(revision)));
        } else if (!state.splice(next)) {
            tellSuccessor(state);
        }
    }

    /** The claim behind one that has left, or lost its key, looks where it stands. */
    void tellSuccessor(ClaimState state) {
        ClaimState next = state.successor();
        if (next != null && next.isWaiting()) {
            next.unfollow();
            FireAndForget.run("looking whose turn it is", lookAfterwards(next, next.revision()));
        }
    }
}
