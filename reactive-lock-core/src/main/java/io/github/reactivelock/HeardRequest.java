package io.github.reactivelock;

import io.github.reactivelock.spi.LockBackend;
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
 * The state is that of the {@link Waiter} and of its {@link Hold}, which say each of these once.
 */
final class HeardRequest extends Mailbox implements LockRequest {

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

    static @Nullable HeardRequest of(UserCallbacks callbacks, String key, LockOptions options, Context context) {
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
    void got(LongSupplier nanos) {
        remainingNanos = nanos;
    }

    // ---- told where user code runs

    void failed(RuntimeException failure) {
        if (failure instanceof LockTimeoutException timeout) {
            put(l -> l.timedOut(this, timeout));
        } else if (failure instanceof LockException unavailable) {
            put(l -> l.unavailable(this, unavailable));
        }
        tell();
    }

    void busy() {
        put(l -> l.busy(this));
        tell();
    }

    void released(long fencingToken, Duration held) {
        put(l -> l.released(this, fencingToken, held));
        tell();
    }

    void releaseFailed(LockUnavailableException failure) {
        put(l -> l.releaseFailed(this, failure));
        tell();
    }

    // ---- told from anywhere

    /** Told by its caller. */
    void waiting() {
        put(l -> l.waiting(this));
    }

    /** Once, however often it is called. */
    void cancelled() {
        if (CANCELLED.compareAndSet(this, 0, 1)) {
            put(l -> l.cancelled(this));
            tellLater();
        }
    }

    void renewalFailed(long fencingToken, Throwable cause) {
        put(l -> l.renewalFailed(this, fencingToken, cause));
        tellLater();
    }

    void changed(long fencingToken, HoldState state) {
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
    void acquired(long fencingToken, Duration waited) {
        if ((fencingToken & ((1L << LockBackend.PASS_BITS) - 1)) != 0) {
            put(l -> l.passed(this, fencingToken));
        }
        put(l -> l.acquired(this, fencingToken, waited));
    }

    private void put(Consumer<LockListener> event) {
        boolean unused = news.offer(event);
    }

    /** All that was put and not told. */
    void tell() {
        post(this::tellAll);
    }

    private void tellAll() {
        for (Consumer<LockListener> next = news.poll(); next != null; next = news.poll()) {
            Consumer<LockListener> event = next;
            ThreadLocals.of(context, () -> callbacks.tell(event));
        }
    }

    @Override
    void goOnElsewhere(Runnable rest) {
        callbacks.run(rest);
    }

    void tellLater() {
        callbacks.run(this::tell);
    }
}
