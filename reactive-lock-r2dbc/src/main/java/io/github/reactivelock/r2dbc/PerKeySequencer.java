package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.support.SilenceClock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * Lets one command at a time go to the database for each key: a release never overtakes its claim on another
 * connection, and one busy key takes one connection. Releases go before claims, because claims may be many and wait for
 * one of them; each kind goes in the order in which it is subscribed. A command that has begun goes on when its
 * subscriber leaves; a claim that has not begun when it is released never begins. When a command fails, claims that
 * have stood behind it for a command's time fail with it; the time in which this process gets no turn does not count.
 * Safe for use from any thread; {@code synchronized} guards a map and nothing slower.
 */
final class PerKeySequencer {

    private static final class Lane {
        private final Queue<Turn<?>> releases = new ArrayDeque<>(2);
        private final Queue<Turn<?>> claims = new ArrayDeque<>(2);

        @Nullable
        Turn<?> next() {
            Turn<?> release = releases.poll();
            return release == null ? claims.poll() : release;
        }
    }

    private final Map<String, Lane> lanes = new HashMap<>();
    private final long bearable;
    /** Counts while a command is under way, because of the command's deadline. */
    private final SilenceClock silenceClock;

    PerKeySequencer(Duration commandTimeout) {
        this(commandTimeout, SilenceClock.ofThisProcess());
    }

    PerKeySequencer(Duration commandTimeout, SilenceClock silenceClock) {
        this.bearable = commandTimeout.toNanos();
        this.silenceClock = silenceClock;
    }

    <T> Mono<T> inTurn(String key, Mono<T> command) {
        return Mono.deferContextual(context -> enqueue(new Turn<>(key, "", command, context)));
    }

    <T> Mono<T> claim(Claim claim, Mono<T> command) {
        return Mono.deferContextual(context -> enqueue(new Turn<>(claim.key(), claim.id(), command, context)));
    }

    /** Drops what this claim still waits to ask; says whether there was something. */
    boolean drop(Claim claim) {
        List<Turn<?>> dropped = taken(claim.key(), turn -> turn.claimId.equals(claim.id()));
        dropped.forEach(turn -> turn.fail(withdrawn()));
        return !dropped.isEmpty();
    }

    static IllegalStateException withdrawn() {
        return new IllegalStateException("the claim was withdrawn before it was made");
    }

    private <T> Mono<T> enqueue(Turn<T> turn) {
        if (isFirst(turn)) {
            begin(turn);
        }
        return turn.answer.asMono();
    }

    private synchronized boolean isFirst(Turn<?> turn) {
        Lane lane = lanes.get(turn.key);
        if (lane == null) {
            lanes.put(turn.key, new Lane());
            return true;
        }
        (turn.claimId.isEmpty() ? lane.releases : lane.claims).add(turn);
        return false;
    }

    private synchronized @Nullable Turn<?> next(String key) {
        Lane lane = lanes.get(key);
        Turn<?> next = lane == null ? null : lane.next();
        if (next == null) {
            lanes.remove(key);
        }
        return next;
    }

    private synchronized List<Turn<?>> taken(String key, Predicate<Turn<?>> which) {
        Lane lane = lanes.get(key);
        if (lane == null || lane.claims.isEmpty()) {
            return List.of();
        }
        List<Turn<?>> taken = lane.claims.stream().filter(which).toList();
        lane.claims.removeAll(taken);
        return taken;
    }

    /** One after the other, and not one inside the other: commands that end at once may be many. */
    private void begin(@Nullable Turn<?> first) {
        Turn<?> turn = first;
        while (turn != null && turn.endsAtOnce()) {
            turn = next(turn.key);
        }
    }

    /**
     * A command, which waits for its turn and then runs; {@code claimId} is empty unless it is a claim. Its end, or the
     * way back from where it began if that comes later, begins the next one.
     */
    private final class Turn<T> implements CoreSubscriber<T> {

        private final String key;
        private final String claimId;
        private final Mono<T> command;
        private final Context context;
        private final Sinks.One<T> answer = Sinks.one();
        private final long since = silenceClock.now();
        private final AtomicBoolean isOver = new AtomicBoolean();
        private final AtomicBoolean isLeft = new AtomicBoolean(); // set by the end or the way back, the earlier one
        private @Nullable T value;

        Turn(String key, String claimId, Mono<T> command, ContextView context) {
            this.key = key;
            this.claimId = claimId;
            this.command = command;
            this.context = Context.of(context);
        }

        /** Runs the command and says whether it has ended by now. */
        boolean endsAtOnce() {
            try {
                command.subscribe(this);
            } catch (Throwable e) { // a fatal one, which is not signalled: the lane would stand still for ever
                fail(e);
                finish();
            }
            return !isLeft.compareAndSet(false, true);
        }

        @Override
        public Context currentContext() {
            return context;
        }

        @Override
        public void onSubscribe(Subscription subscription) {
            subscription.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(T next) {
            value = next;
        }

        @Override
        public void onComplete() {
            try {
                if (value == null) {
                    answer.tryEmitEmpty();
                } else {
                    answer.tryEmitValue(value);
                }
            } finally {
                finish();
            }
        }

        @Override
        public void onError(Throwable error) {
            try {
                fail(error);
                long now = silenceClock.now();
                taken(key, turn -> !turn.claimId.isEmpty() && now - turn.since >= bearable)
                        .forEach(turn -> turn.fail(error));
            } finally {
                finish();
            }
        }

        void fail(Throwable error) {
            answer.tryEmitError(error);
        }

        private void finish() {
            if (isOver.compareAndSet(false, true) && !isLeft.compareAndSet(false, true)) {
                begin(next(key));
            }
        }
    }
}
