package io.github.reactivelock;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** One acquisition's share in a hold: it leaves once, however often it is told to. */
final class Handle implements LockHandle {

    private static final AtomicIntegerFieldUpdater<Handle> LEFT =
            AtomicIntegerFieldUpdater.newUpdater(Handle.class, "left");

    final Hold hold;
    private volatile int left;
    /** What this handle's own options allow, where it joined a hold that others may last longer in. */
    private final @Nullable HoldLimit limit;
    /** Emitted to once, by whoever left. */
    private final Sinks.Empty<Void> outcome = Sinks.unsafe().empty();

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
            leave(failure -> {});
            return outcome.asMono();
        });
    }

    /** Leaves the hold without anybody waiting for the outcome, which the engine reports where it is a failure. */
    void giveBack() {
        leave(failure -> {});
    }

    /** Leaves the hold; if it was left before, nothing is left to do. */
    void leave(Consumer<@Nullable LockException> done) {
        if (!LEFT.compareAndSet(this, 0, 1)) {
            done.accept(null);
            return;
        }
        if (limit != null) {
            limit.dispose();
        }
        hold.leave(failure -> {
            Sinks.EmitResult unused = failure == null ? outcome.tryEmitEmpty() : outcome.tryEmitError(failure);
            done.accept(failure);
        });
    }

    @Override
    public String toString() {
        return "LockHandle[key=" + key() + ", fencingToken=" + fencingToken() + ", held=" + isHeld() + "]";
    }
}
