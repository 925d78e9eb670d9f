package io.github.reactivelock;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** One acquisition's share in a hold: it leaves once, however often it is told to, and hears itself what came of that. */
final class Handle implements LockHandle, Consumer<@Nullable LockException>, Runnable {

    private static final AtomicIntegerFieldUpdater<Handle> LEFT =
            AtomicIntegerFieldUpdater.newUpdater(Handle.class, "left");

    @SuppressWarnings("rawtypes")
    private static final AtomicReferenceFieldUpdater<Handle, Sinks.Empty> OUTCOME =
            AtomicReferenceFieldUpdater.newUpdater(Handle.class, Sinks.Empty.class, "outcome");

    private static final Sinks.Empty<Void> RELEASED = ended();
    private static final int LEAVING = 1;
    private static final int ANSWERED = 2;

    final Hold hold;
    private volatile int left;
    /** What this handle's own options allow, where it joined a hold that others may last longer in. */
    private final @Nullable HoldLimit limit;
    /** Hears what came of it; set by who left. */
    private @Nullable Consumer<@Nullable LockException> done;
    /** What came of it, once {@link #ANSWERED}. */
    private @Nullable LockException failure;
    /** Of those who asked for it, who are nobody under {@code withLock}. */
    private volatile Sinks.@Nullable Empty<Void> outcome;

    Handle(Hold hold) {
        this(hold, null);
    }

    Handle(Hold hold, @Nullable HoldLimit limit) {
        this.hold = hold;
        this.limit = limit;
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
        return left == 0 ? Duration.ofNanos(hold.remainingNanos()) : Duration.ZERO;
    }

    @Override
    public boolean isHeld() {
        return left == 0 && hold.isHeld();
    }

    @Override
    public Mono<LockLostException> lost() {
        return Mono.defer(hold::lost).publishOn(hold.grant.services.userCallbacks.work());
    }

    /** From a source that is not Reactor's, so that Reactor gives each signal the thread-locals of the subscriber. */
    @Override
    public Flux<HoldState> states() {
        return Flux.from(subscriber -> {
            HoldStates.Watcher watcher = new HoldStates.Watcher(hold.grant.services.userCallbacks, subscriber);
            subscriber.onSubscribe(watcher);
            hold.watch(watcher);
        });
    }

    @Override
    public Mono<Void> renew() {
        return Mono.create(sink -> hold.renew(failure -> {
            if (failure == null) {
                if (limit != null && left == 0) {
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
            Sinks.Empty<Void> asked = outcome();
            giveBack();
            return asked.asMono();
        });
    }

    private static Sinks.Empty<Void> ended() {
        Sinks.Empty<Void> ended = Sinks.unsafe().empty();
        Sinks.EmitResult unused = ended.tryEmitEmpty();
        return ended;
    }

    /** Whoever makes it looks whether there is something to tell, and who has something to tell looks whether it was made. */
    private Sinks.Empty<Void> outcome() {
        Sinks.Empty<Void> made = outcome;
        if (made == null) {
            boolean unused = OUTCOME.compareAndSet(this, null, Sinks.unsafe().empty());
            return outcome();
        }
        if (left == ANSWERED) {
            tell(made);
        }
        return made;
    }

    /** Perhaps for the second time, with the same. */
    private void tell(Sinks.Empty<Void> asked) {
        Sinks.EmitResult unused = failure == null ? asked.tryEmitEmpty() : asked.tryEmitError(failure);
    }

    /** Leaves the hold without anybody waiting for the outcome, which the engine reports where it is a failure. */
    void giveBack() {
        leave(null);
    }

    /** Leaves the hold; if it was left before, nothing is left to do. */
    void leave(@Nullable Consumer<@Nullable LockException> listener) {
        if (!LEFT.compareAndSet(this, 0, LEAVING)) {
            if (listener != null) {
                listener.accept(null);
            }
            return;
        }
        if (limit != null) {
            limit.dispose();
        }
        done = listener;
        hold.leave(this);
    }

    /** Inside the events of the hold's owner: this was the last handle. */
    @Override
    public void run() {
        hold.owner.released(hold);
    }

    /** True if nobody waits to hear that the release is done; who asks later is told at once. */
    boolean isUnheard() {
        return done == null && OUTCOME.compareAndSet(this, null, RELEASED);
    }

    /** What came of the release. */
    @Override
    public void accept(@Nullable LockException outcomeOfRelease) {
        failure = outcomeOfRelease;
        left = ANSWERED;
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
