package io.github.reactivelock.election;

import io.github.reactivelock.election.ElectionState.Following;
import io.github.reactivelock.election.ElectionState.Seeking;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Operators;
import reactor.core.publisher.Sinks;
import reactor.util.context.Context;

/**
 * The state of a candidate, and its way to those who watch it. Any thread may move it; one thread at a time tells,
 * always the newest state, so what a watcher heard last is never old.
 */
final class LatestState {

    private final AtomicReference<ElectionState> state;
    private final AtomicInteger untold = new AtomicInteger();
    private final Sinks.Many<ElectionState> told;

    LatestState(ElectionState first) {
        this.state = new AtomicReference<>(first);
        this.told = Sinks.unsafe().many().replay().latestOrDefault(first);
    }

    ElectionState get() {
        return Objects.requireNonNull(state.get());
    }

    /** Moves on to what the function makes of the present state. */
    void move(UnaryOperator<ElectionState> change) {
        state.updateAndGet(now -> merged(now, change.apply(now)));
        tell();
    }

    /** Begins a campaign, unless another one has not ended. */
    boolean leaveIdle(ElectionState first) {
        ElectionState now = get();
        boolean left = now instanceof ElectionState.Idle && state.compareAndSet(now, first);
        if (left) {
            tell();
        }
        return left;
    }

    private void tell() {
        if (untold.getAndIncrement() != 0) {
            return;
        }
        int missed = 1;
        do {
            told.tryEmitNext(get()).orThrow();
            missed = untold.addAndGet(-missed);
        } while (missed != 0);
    }

    Flux<ElectionState> changes() {
        return told.asFlux()
                .distinctUntilChanged()
                .onBackpressureLatest()
                .transform(Operators.<ElectionState, ElectionState>lift((unused, actual) -> new Watcher(actual)));
    }

    /** The new state, with the time of the old one where both say the same of it. */
    static ElectionState merged(ElectionState before, ElectionState now) {
        if (before instanceof Following old && now instanceof Following next) {
            return old.term() == next.term() && old.leader().equals(next.leader()) ? before : now;
        }
        if (before instanceof Seeking old && now instanceof Seeking next) {
            return Objects.equals(text(old), text(next)) ? before : new Seeking(old.since(), next.cause());
        }
        return now;
    }

    private static String text(Seeking seeking) {
        return String.valueOf(seeking.cause());
    }

    /** What it throws, an Error too, is dropped: it must not keep the news from the others, nor end a campaign. */
    private record Watcher(CoreSubscriber<? super ElectionState> actual) implements CoreSubscriber<ElectionState> {

        @Override
        public Context currentContext() {
            return actual.currentContext();
        }

        @Override
        public void onSubscribe(Subscription subscription) {
            actual.onSubscribe(subscription);
        }

        @Override
        public void onNext(ElectionState state) {
            try {
                actual.onNext(state);
            } catch (Throwable e) {
                Operators.onErrorDropped(e, actual.currentContext());
            }
        }

        @Override
        public void onError(Throwable failure) {
            actual.onError(failure);
        }

        @Override
        public void onComplete() {
            actual.onComplete();
        }
    }
}
