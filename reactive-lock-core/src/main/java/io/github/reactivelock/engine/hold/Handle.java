package io.github.reactivelock.engine.hold;

import io.github.reactivelock.HoldState;
import io.github.reactivelock.LockException;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.engine.user.Mailbox;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.publisher.Signal;
import reactor.core.publisher.Sinks;

/** One acquisition's share in a hold: it leaves once, however often it is released, and receives the outcome itself. */
public final class Handle implements LockHandle, Consumer<@Nullable LockException>, Mailbox.Event, Runnable {

    private static final AtomicIntegerFieldUpdater<Handle> GIVEN_BACK =
            AtomicIntegerFieldUpdater.newUpdater(Handle.class, "givenBack");

    @SuppressWarnings("rawtypes")
    private static final AtomicReferenceFieldUpdater<Handle, Sinks.Empty> OUTCOME =
            AtomicReferenceFieldUpdater.newUpdater(Handle.class, Sinks.Empty.class, "outcome");

    private static final Sinks.Empty<Void> RELEASED = ended();
    private static final int GIVING_BACK = 1;
    private static final int ANSWERED = 2;

    public final Hold hold;
    private volatile int givenBack;
    /** What this handle's own options allow, where it joined a hold that others may last longer in. */
    private final @Nullable HoldLimit limit;
    /** What goes on under it; a flow inside that sees it. */
    private LossSignal.@Nullable Work work;
    /** Hears what came of it; set by who gave it back. */
    private @Nullable Consumer<@Nullable LockException> done;
    /** What came of it, once {@link #ANSWERED}. */
    private @Nullable LockException failure;
    /** The outcome for subscribers that asked for it; {@code withLock} has none. */
    private volatile Sinks.@Nullable Empty<Void> outcome;

    public Handle(Hold hold) {
        this.hold = hold;
        this.limit = null;
    }

    /** One more handle of a hold, with options of its own. */
    public Handle(Hold hold, LockOptions wanted) {
        this.hold = hold;
        this.limit = HoldLimit.of(this, wanted);
    }

    boolean isGivenBack() {
        return givenBack != 0;
    }

    /** Its own end, or the loss of the hold. */
    @Nullable
    public LockLostException loss() {
        LockLostException own = limit == null ? null : limit.loss();
        return own == null ? hold.loss() : own;
    }

    /** From now on either ends the work. */
    public void enter(LossSignal.Work begun) {
        work = begun;
        hold.enter(begun);
        if (limit != null) {
            limit.enter(begun);
        }
    }

    LossSignal.@Nullable Work work() {
        return work;
    }

    public void exit(LossSignal.Work work) {
        hold.exit(work);
        if (limit != null) {
            limit.exit(work);
        }
    }

    @Override
    public String key() {
        return hold.key();
    }

    @Override
    public long fencingToken() {
        return hold.fencingToken;
    }

    @Override
    public Duration remaining() {
        if (givenBack != 0) {
            return Duration.ZERO;
        }
        long ofHold = hold.remainingNanos();
        return Duration.ofNanos(limit == null ? ofHold : Math.min(ofHold, limit.remaining()));
    }

    @Override
    public boolean isHeld() {
        return givenBack == 0 && hold.isHeld() && (limit == null || limit.loss() == null);
    }

    @Override
    public Mono<LockLostException> lost() {
        return Mono.defer(() -> limit == null ? hold.lost() : Mono.firstWithSignal(limit.lost(), hold.lost()))
                .publishOn(hold.grant.services.userCallbacks.work());
    }

    /** From a source that is not Reactor's, so that Reactor gives each signal the thread-locals of the subscriber. */
    @Override
    public Flux<HoldState> states() {
        Flux<HoldState> ofHold = Flux.from(subscriber -> {
            HoldStates.Watcher watcher = new HoldStates.Watcher(hold.grant.services.userCallbacks, subscriber);
            subscriber.onSubscribe(watcher);
            hold.watch(watcher);
        });
        return limit == null ? ofHold : untilItEnds(ofHold, limit);
    }

    /** The first of both that ends is the end. */
    private static Flux<HoldState> untilItEnds(Flux<HoldState> ofHold, HoldLimit limit) {
        Flux<Signal<HoldState>> own = Mono.defer(limit::lost)
                .flatMapIterable(loss -> List.of(Signal.next(new HoldState.Lost(loss)), Signal.complete()));
        return Flux.merge(1, own, ofHold.materialize()).dematerialize();
    }

    @Override
    public Mono<Void> renew() {
        return Mono.create(sink -> hold.renew(ofHold -> {
            LockLostException own = limit == null ? null : limit.loss();
            LockException failure = own == null ? ofHold : own;
            if (failure == null) {
                if (limit != null && givenBack == 0) {
                    limit.renewed();
                }
                sink.success();
            } else {
                sink.error(failure);
            }
        }));
    }

    @Override
    public Mono<Void> release() {
        return Mono.defer(() -> {
            boolean unwinds = hold.isJoinedByMany();
            Sinks.Empty<Void> asked = outcome();
            giveBack();
            return unwinds ? unwound(asked.asMono()) : asked.asMono();
        });
    }

    private Mono<Void> unwound(Mono<Void> outcomeOfRelease) {
        return Mono.fromDirect(subscriber -> {
            CoreSubscriber<? super Void> actual = Operators.toCoreSubscriber(subscriber);
            Object flow = Unwinding.flowOf(actual.currentContext(), hold);
            Unwinding.run(Unwinding.Signal.WORK, flow, () -> outcomeOfRelease.subscribe(actual));
        });
    }

    private static Sinks.Empty<Void> ended() {
        Sinks.Empty<Void> ended = Sinks.unsafe().empty();
        ended.tryEmitEmpty();
        return ended;
    }

    /**
     * The thread that makes the sink then checks for an outcome; the thread with the outcome then checks for a sink.
     */
    private Sinks.Empty<Void> outcome() {
        Sinks.Empty<Void> made = outcome;
        if (made == null) {
            OUTCOME.compareAndSet(this, null, Sinks.unsafe().empty());
            return outcome();
        }
        if (givenBack == ANSWERED) {
            tell(made);
        }
        return made;
    }

    /** Perhaps for the second time, with the same. */
    private void tell(Sinks.Empty<Void> asked) {
        if (failure == null) {
            asked.tryEmitEmpty();
        } else {
            asked.tryEmitError(failure);
        }
    }

    /** Gives the handle back and waits for no outcome, which the engine reports where it is a failure. */
    public void giveBack() {
        giveBack(null);
    }

    /** Gives the handle back; the second time there is nothing to do. */
    public void giveBack(@Nullable Consumer<@Nullable LockException> listener) {
        if (!GIVEN_BACK.compareAndSet(this, 0, GIVING_BACK)) {
            if (listener != null) {
                listener.accept(null);
            }
            return;
        }
        if (limit != null) {
            limit.dispose();
        }
        done = listener;
        hold.giveBack(this);
    }

    /** This was the last handle: an event of the hold's owner. */
    @Override
    public void handle() {
        hold.owner.released(hold);
    }

    /** The flow gets its lock: a task of the work scheduler. */
    @Override
    public void run() {
        hold.grantWith(this);
    }

    private @Nullable LockException ownEnd() {
        return limit == null ? null : limit.ended();
    }

    /** True if no subscriber waits for the end of the release; a later one completes at once. */
    boolean isUnheard() {
        return done == null && ownEnd() == null && OUTCOME.compareAndSet(this, null, RELEASED);
    }

    /** What came of the release. */
    @Override
    public void accept(@Nullable LockException outcomeOfRelease) {
        LockException own = ownEnd();
        failure = own == null ? outcomeOfRelease : own;
        givenBack = ANSWERED;
        Sinks.Empty<Void> asked = outcome;
        if (asked != null) {
            tell(asked);
        }
        if (done != null) {
            done.accept(outcomeOfRelease);
        }
    }

    @Override
    public String toString() {
        return "LockHandle[key=" + key() + ", fencingToken=" + fencingToken() + ", held=" + isHeld() + "]";
    }
}
