package io.github.reactivelock.engine.user;

import io.github.reactivelock.HoldState;
import io.github.reactivelock.LockException;
import io.github.reactivelock.LockListener;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockRequest;
import io.github.reactivelock.LockTimeoutException;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.spi.FencingTokens;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * A request as the client's listener sees it: its events in the order in which they happened, one at a time, though
 * they arise on different threads. There is none where there is no listener. As a mailbox it is emptied on the work
 * scheduler, or where user code runs already.
 *
 * <pre>
 * state     leaves on
 * (new)     waiting -> WAITING
 * WAITING   (passed) acquired -> HELD; timedOut, cancelled, unavailable, busy -> the end
 * HELD      renewalFailed, atRisk, safeAgain -> HELD; released, lost, releaseFailed -> the end
 * </pre>
 *
 * The state is that of the {@code Waiter} and of its {@code Hold}, which say each of these once.
 */
public final class HeardRequest extends Mailbox implements LockRequest {

    private static final AtomicIntegerFieldUpdater<HeardRequest> CANCELLED =
            AtomicIntegerFieldUpdater.newUpdater(HeardRequest.class, "cancelled");

    private final UserCallbacks callbacks;
    private final LockOptions options;
    private final Context context;
    private final Queue<Consumer<LockListener>> news = new ConcurrentLinkedQueue<>();

    @SuppressWarnings("UnusedVariable") // only ever used through CANCELLED
    private volatile int cancelled;

    private volatile LongSupplier remainingNanos = () -> 0;

    private HeardRequest(UserCallbacks callbacks, String key, LockOptions options, Context context) {
        super(key);
        this.callbacks = callbacks;
        this.options = options;
        this.context = context;
    }

    public static @Nullable HeardRequest of(UserCallbacks callbacks, String key, LockOptions options, Context context) {
        return callbacks.hasListener() ? new HeardRequest(callbacks, key, options, context) : null;
    }

    @Override
    public String key() {
        return key;
    }

    @Override
    public LockOptions options() {
        return options;
    }

    @Override
    public ContextView context() {
        return context;
    }

    @Override
    public Duration remaining() {
        return Duration.ofNanos(remainingNanos.getAsLong());
    }

    /** It got a hold, which has so much time left. */
    public void got(LongSupplier nanos) {
        remainingNanos = nanos;
    }

    // ---- told where user code runs

    public void failed(RuntimeException failure) {
        if (failure instanceof LockTimeoutException timeout) {
            put(l -> l.timedOut(this, timeout));
        } else if (failure instanceof LockException unavailable) {
            put(l -> l.unavailable(this, unavailable));
        }
        tell();
    }

    public void busy() {
        put(l -> l.busy(this));
        tell();
    }

    public void released(long fencingToken, Duration held) {
        put(l -> l.released(this, fencingToken, held));
        tell();
    }

    public void releaseFailed(LockUnavailableException failure) {
        put(l -> l.releaseFailed(this, failure));
        tell();
    }

    // ---- told from anywhere

    /** Told by its caller. */
    public void waiting() {
        put(l -> l.waiting(this));
    }

    /** Once, however often it is called. */
    public void cancelled() {
        if (CANCELLED.compareAndSet(this, 0, 1)) {
            put(l -> l.cancelled(this));
            tellLater();
        }
    }

    /** Before it is acquired. */
    public void hit() {
        put(l -> l.retentionHit(this));
    }

    /** The store is asked though locks are to be kept. */
    public void missed() {
        put(l -> l.retentionMissed(this));
    }

    public void renewalFailed(long fencingToken, Throwable cause) {
        put(l -> l.renewalFailed(this, fencingToken, cause));
        tellLater();
    }

    public void changed(long fencingToken, HoldState state) {
        if (state instanceof HoldState.AtRisk risk) {
            put(l -> l.atRisk(this, fencingToken, risk));
        } else if (state instanceof HoldState.Lost lost) {
            put(l -> l.lost(this, lost.loss()));
        } else {
            put(l -> l.safeAgain(this, fencingToken));
        }
        tellLater();
    }

    /** Called when the flow gets its handle, before any news of the hold. */
    public void acquired(long fencingToken, Duration waited) {
        if (FencingTokens.isPassed(fencingToken)) {
            put(l -> l.passed(this, fencingToken));
        }
        put(l -> l.acquired(this, fencingToken, waited));
    }

    private void put(Consumer<LockListener> event) {
        news.offer(event);
    }

    /** All that was put and not told. */
    public void tell() {
        post(this::tellAll);
    }

    private void tellAll() {
        for (Consumer<LockListener> next = news.poll(); next != null; next = news.poll()) {
            Consumer<LockListener> event = next;
            ThreadLocals.of(context, () -> callbacks.tell(event));
        }
    }

    @Override
    public void goOnElsewhere(Runnable rest) {
        callbacks.schedule(rest);
    }

    public void tellLater() {
        callbacks.schedule(this::tell);
    }
}
