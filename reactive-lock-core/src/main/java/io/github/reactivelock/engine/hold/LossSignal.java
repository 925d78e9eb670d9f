package io.github.reactivelock.engine.hold;

import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.engine.user.UserCallbacks;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * Announces the loss of a hold to the work that runs under it and to subscribers of {@link LockHandle#lost()}. Usually
 * there are none. Safe for use from any thread.
 */
public final class LossSignal {

    /** What goes on under a hold. */
    public interface Work {
        /** Must end, because the lock is gone. Called on the work scheduler. */
        void lost(LockLostException loss);

        /** Must end, because code inside it threw a fatal error, so that it would wait for ever. */
        void threw(Throwable thrown);
    }

    private static final Logger log = LoggerFactory.getLogger(LossSignal.class);

    @SuppressWarnings("rawtypes")
    private static final AtomicReferenceFieldUpdater<LossSignal, List> WORKS =
            AtomicReferenceFieldUpdater.newUpdater(LossSignal.class, List.class, "works");

    @SuppressWarnings("rawtypes")
    private static final AtomicReferenceFieldUpdater<LossSignal, Sinks.One> SINK =
            AtomicReferenceFieldUpdater.newUpdater(LossSignal.class, Sinks.One.class, "sink");

    /** The outermost first. None of these lists is ever changed. */
    volatile List<Work> works = List.of();

    private volatile Sinks.@Nullable One<LockLostException> sink;

    void add(Work work) {
        List<Work> now;
        List<Work> more;
        do {
            now = works;
            more = now.isEmpty() ? List.of(work) : with(now, work);
        } while (!WORKS.compareAndSet(this, now, more));
    }

    void remove(Work work) {
        List<Work> now;
        List<Work> fewer;
        do {
            now = works;
            fewer = without(now, work);
        } while (!WORKS.compareAndSet(this, now, fewer));
    }

    private static List<Work> with(List<Work> now, Work work) {
        if (now.size() == 1) {
            return List.of(now.get(0), work);
        }
        List<Work> more = new ArrayList<>(now.size() + 1);
        more.addAll(now);
        more.add(work);
        return more;
    }

    private static List<Work> without(List<Work> now, Work work) {
        int at = now.lastIndexOf(work);
        if (at < 0) {
            return now;
        } else if (now.size() <= 2) {
            return now.size() == 1 ? List.of() : List.of(now.get(1 - at));
        }
        List<Work> fewer = new ArrayList<>(now);
        fewer.remove(at);
        return fewer;
    }

    /** Ends a piece of work because of a loss, now. */
    static void tell(Work work, LockLostException loss) {
        try {
            work.lost(loss);
        } catch (Throwable e) { // of the work's own cancelling: the lock has to be given up all the same
            log.error("lock '{}': work that lost its lock could not be cancelled", loss.key(), e);
        }
    }

    /** Whether this is the first to ask; then {@link #complete} is due if the hold is over. */
    boolean begin() {
        return sink == null && SINK.compareAndSet(this, null, Sinks.one());
    }

    Mono<LockLostException> asMono() {
        Sinks.One<LockLostException> begun = sink;
        return begun == null ? Mono.empty() : begun.asMono();
    }

    /** Cancels the works, the outermost first and never in place; {@code cancelled} runs when that has returned. */
    void lose(LockLostException loss, UserCallbacks callbacks, Runnable cancelled) {
        complete(loss);
        List<Work> under = works;
        if (under.isEmpty()) {
            cancelled.run();
            return;
        }
        callbacks.schedule(() -> {
            try {
                under.forEach(work -> tell(work, loss));
            } finally {
                cancelled.run();
            }
        });
    }

    /** The hold is over, by a loss or without one. */
    void complete(@Nullable LockLostException loss) {
        Sinks.One<LockLostException> begun = sink;
        if (begun != null) {
            if (loss == null) {
                begun.tryEmitEmpty();
            } else {
                begun.tryEmitValue(loss);
            }
        }
    }
}
