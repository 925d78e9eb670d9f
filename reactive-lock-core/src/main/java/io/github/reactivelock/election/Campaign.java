package io.github.reactivelock.election;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockClientClosedException;
import io.github.reactivelock.LockException;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.election.ElectionState.Idle;
import io.github.reactivelock.election.ElectionState.Leading;
import io.github.reactivelock.election.ElectionState.Seeking;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * One subscription that campaigns. Its state, and who may move it:
 *
 * <pre>
 * Idle      -> Seeking              it is subscribed to
 * Seeking   -> Following, Seeking   the watch, while the turn has not begun to lead
 * Following -> Following, Seeking   the watch, likewise
 * any       -> Leading              the lock was granted to the turn
 * any       -> Seeking              the turn is over: stepped down, lost, or not granted (with the cause)
 * any       -> Idle                 the campaign is over: cancelled, or ended by an error that is not the lock's
 * </pre>
 *
 * A turn is one claim and what follows from it. Turns follow one another; a watch belongs to one turn and ends when
 * that leads or is over. Nothing of a turn counts once the campaign is over, and nothing of a watch once its turn
 * leads.
 */
final class Campaign<T> {

    /** Marks in the Reactor Context that a candidate asks, and not a flow that wants to go on. */
    static final Object CANDIDATE = new Object();

    private final LockClient locks;
    private final String key;
    private final Function<? super Leadership, ? extends Publisher<T>> work;
    private final LeaderWatch leaderWatch;
    private final Backoff backoff;
    private final LatestState state;
    private final Supplier<Instant> clock;
    private final AtomicBoolean isOver = new AtomicBoolean();
    private volatile Turn turn = new Turn();

    Campaign(
            LockClient locks,
            String key,
            Function<? super Leadership, ? extends Publisher<T>> work,
            LeaderWatch leaderWatch,
            Backoff backoff,
            LatestState state,
            Supplier<Instant> clock) {
        this.locks = locks;
        this.key = key;
        this.work = work;
        this.leaderWatch = leaderWatch;
        this.backoff = backoff;
        this.state = state;
        this.clock = clock;
    }

    /** Turns until one leads and its work ends, or until an error that is not the lock's. */
    Flux<T> untilLed() {
        return Flux.defer(this::turn).retryWhen(backoff.after(this::isTriedAgain));
    }

    /** False if the candidate campaigns already. */
    boolean begin() {
        return state.leaveIdle(new Seeking(clock.get(), null));
    }

    /**
     * For good: what is still under way changes the state no more. Once, because operators pass a cancel on to a
     * campaign that has ended, when another one may have begun, begun by a listener at the end of the first.
     */
    void end(@Nullable Throwable cause) {
        if (isOver.compareAndSet(false, true)) {
            state.move(now -> new Idle(clock.get(), cause));
        }
    }

    private Flux<T> turn() {
        backoff.begin();
        Turn next = new Turn();
        turn = next;
        return locks.withLockMany(key, held -> lead(next, held))
                .contextWrite(context -> context.put(CANDIDATE, true))
                .takeUntilOther(watch(next))
                .doOnComplete(() -> over(next, null))
                .doOnError(e -> over(next, e))
                .doOnCancel(() -> over(next, null));
    }

    private Publisher<T> lead(Turn turn, LockHandle held) {
        Term term = new Term(held);
        if (!turn.begin(term)) {
            return Flux.empty();
        }
        state.move(now -> isOver.get() ? now : new Leading(term, clock.get()));
        return Flux.defer(() -> work.apply(term))
                .doOnError(e -> turn.failure = e)
                .takeUntilOther(term.stepsDown())
                .contextWrite(context -> context.delete(CANDIDATE)); // other locks of the work are no candidates
    }

    /** Never ends the turn. */
    private Mono<Void> watch(Turn turn) {
        return leaderWatch
                .states()
                .takeUntilOther(turn.leads.asMono())
                .doOnNext(seen ->
                        state.move(now -> isOver.get() || turn.term != null || isNoNews(now, seen) ? now : seen))
                .onErrorResume(LockClientClosedException.class, closed -> Mono.empty()) // the claim fails of it too
                .then(Mono.never());
    }

    /** That the lock is free says nothing about why this candidate does not have it. */
    private static boolean isNoNews(ElectionState now, ElectionState seen) {
        return now instanceof Seeking && seen instanceof Seeking free && free.cause() == null;
    }

    private void over(Turn turn, @Nullable Throwable cause) {
        seek(cause);
        turn.end();
    }

    private void seek(@Nullable Throwable cause) {
        state.move(now -> isOver.get() ? now : new Seeking(clock.get(), cause));
    }

    /** Errors of the lock, but not of another lock that the work takes, and not those that no other try can help. */
    private boolean isTriedAgain(Throwable error) {
        Turn failed = turn;
        boolean ofTheWork = error == failed.failure && !(failed.term != null && failed.term.isLostBy(error));
        return error instanceof LockException && !(error instanceof LockClientClosedException) && !ofTheWork;
    }

    /** One claim, and the term that it leads to. */
    private static final class Turn {

        final Sinks.Empty<Void> leads = Sinks.empty();
        volatile @Nullable Term term;
        volatile @Nullable Throwable failure;
        private volatile boolean isOver;

        /** False if the turn was over before its grant arrived: the later of the two ends the term. */
        boolean begin(Term granted) {
            term = granted;
            leads.tryEmitEmpty().orThrow();
            if (isOver) {
                granted.end();
            }
            return !isOver;
        }

        void end() {
            isOver = true;
            Term granted = term;
            if (granted != null) {
                granted.end();
            }
        }
    }
}
