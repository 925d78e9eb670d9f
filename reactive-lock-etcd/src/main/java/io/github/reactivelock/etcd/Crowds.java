package io.github.reactivelock.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.FireAndForget;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;

/**
 * How the claims of this client that wait for a share learn that they are in. Those of one lock have one watch, chosen
 * for the first of them, since none of the others can be in before it: on the last claim for the whole that is before
 * it, or, if there is none, on all claims of the lock. If any of these keys goes, one read of the queue decides for all
 * of them. Guarded by itself; nothing slow happens inside.
 */
final class Crowds {

    private static final Duration PAUSE_AFTER_A_BROKEN_WATCH = Duration.ofMillis(100);

    /** A claim for the whole that is watched. */
    private record Target(ByteSequence name, long revision) {
        static @Nullable Target of(KeyValue awaited) {
            return KeyLayout.share(awaited.getKey()).isWhole()
                    ? new Target(awaited.getKey(), awaited.getCreateRevision())
                    : null;
        }
    }

    private record Member(ClaimState claim, long revision) {}

    /** Those that wait for one lock. */
    private static final class Crowd {
        final String key;
        final Map<ByteSequence, Member> members = new HashMap<>();
        /** At which revision the last claim was made that was seen to be in. */
        long inUpTo;
        /** Null if all claims are watched. */
        @Nullable
        Target target;

        Disposable.@Nullable Swap watch;

        Crowd(String key) {
            this.key = key;
        }
    }

    private final ClaimKeys keys;
    private final SignalSink pushes;
    private final Map<String, Crowd> crowds = new HashMap<>();

    Crowds(ClaimKeys keys, SignalSink pushes) {
        this.keys = keys;
        this.pushes = pushes;
    }

    /** The claim was seen to wait, once it was made at that revision. */
    void join(ClaimState state, long revision, KeyValue awaited) {
        Crowd crowd;
        Disposable.Swap earlier;
        Disposable.Swap begun = Disposables.swap();
        synchronized (this) {
            if (!state.isWaiting() || state.revision() != revision) {
                return;
            }
            crowd = crowds.computeIfAbsent(state.claim.key(), Crowd::new);
            Member member = new Member(state, revision);
            if (member.equals(crowd.members.put(state.name, member))) {
                return;
            }
            boolean behindTheTarget = crowd.target == null || crowd.target.revision < revision;
            // It may have been seen to be in when it was not a member yet.
            if (crowd.watch != null && behindTheTarget && crowd.inUpTo < revision) {
                return;
            }
            if (crowd.watch == null || !behindTheTarget) {
                crowd.target = Target.of(awaited);
            }
            earlier = crowd.watch;
            crowd.watch = begun;
        }
        if (earlier != null) {
            earlier.dispose();
        }
        begun.update(FireAndForget.cancellable("waiting for a share in etcd", rounds(crowd, begun)));
    }

    /** The claim waits no longer. Those behind it are covered by what was watched for it. */
    void leave(ClaimState state) {
        Disposable.Swap watch = null;
        synchronized (this) {
            Crowd crowd = crowds.get(state.claim.key());
            Member member = crowd == null ? null : crowd.members.get(state.name);
            if (crowd != null && member != null && member.claim == state) {
                crowd.members.remove(state.name);
                if (crowd.members.isEmpty()) {
                    crowds.remove(crowd.key);
                    watch = crowd.watch;
                }
            }
        }
        if (watch != null) {
            watch.dispose();
        }
    }

    /** One watch after the other, until none waits. */
    private Mono<Void> rounds(Crowd crowd, Disposable.Swap watch) {
        return Mono.defer(() -> round(crowd, watch, target(crowd)))
                .onErrorResume(error -> Mono.delay(PAUSE_AFTER_A_BROKEN_WATCH, DriverThreads.timer())
                        .doOnNext(pause -> pushes.push(new Signal.Recheck(crowd.key)))
                        .then())
                .repeat(() -> isInForce(crowd, watch))
                .then();
    }

    /**
     * The queue is read when the watch has begun and after each deletion; deletions meanwhile are answered by one more.
     */
    private Mono<Void> round(Crowd crowd, Disposable.Swap watch, @Nullable Target target) {
        return (target == null ? keys.deletions(crowd.key) : keys.deletions(target.name))
                .onBackpressureLatest()
                .concatMap(change -> keys.queue(crowd.key).map(queue -> serve(crowd, watch, target, queue)), 0)
                .takeUntil(isStillRight -> !isStillRight)
                .then();
    }

    private synchronized @Nullable Target target(Crowd crowd) {
        return crowd.target;
    }

    private synchronized boolean isInForce(Crowd crowd, Disposable.Swap watch) {
        return crowd.watch == watch && !crowd.members.isEmpty();
    }

    /** Whether what is watched is what has to be watched from now on. */
    private boolean serve(Crowd crowd, Disposable.Swap watch, @Nullable Target watched, KeyQueue.Index found) {
        List<Signal> news = new ArrayList<>();
        boolean isStillRight;
        synchronized (this) {
            if (!isInForce(crowd, watch)) {
                return false;
            }
            KeyQueue queue = found.queue();
            if (queue.in() > 0) {
                crowd.inUpTo = queue.claims().get(queue.in() - 1).getCreateRevision();
            }
            crowd.target = admit(crowd, queue, found.readAt(), news);
            isStillRight = !crowd.members.isEmpty() && Objects.equals(crowd.target, watched);
            if (crowd.members.isEmpty()) {
                crowds.remove(crowd.key);
            }
        }
        news.forEach(pushes::push);
        return isStillRight;
    }

    /** What is to be watched for those that are left. */
    private static @Nullable Target admit(Crowd crowd, KeyQueue queue, long readAt, List<Signal> news) {
        Map<ByteSequence, Member> missing = new HashMap<>(crowd.members);
        KeyValue awaited = null;
        for (int place = 0; place < queue.claims().size() && !missing.isEmpty(); place++) {
            KeyValue key = queue.claims().get(place);
            Member member = missing.get(key.getKey());
            if (member == null || member.revision != key.getCreateRevision()) {
                continue;
            }
            missing.remove(key.getKey());
            if (place < queue.in()) {
                crowd.members.remove(key.getKey());
                if (member.claim.own(member.revision)) {
                    news.add(new Signal.Grant(member.claim.claim.id(), ClaimRegistry.token(member.revision)));
                }
            } else if (awaited == null) {
                awaited = queue.awaited(place);
            }
        }
        missing.forEach((name, member) -> {
            if (member.revision <= readAt) { // and else it came after the queue was read
                crowd.members.remove(name);
                member.claim.vanished(member.revision);
                news.add(Turns.recheck(member.claim));
            }
        });
        return awaited == null ? null : Target.of(awaited);
    }
}
