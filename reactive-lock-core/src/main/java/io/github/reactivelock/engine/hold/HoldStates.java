package io.github.reactivelock.engine.hold;

import io.github.reactivelock.HoldState;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.engine.claim.Grant;
import io.github.reactivelock.engine.user.UserCallbacks;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import reactor.core.publisher.Operators;

/**
 * The states of a hold on their way to those who asked for them ({@link LockHandle#states}). Only the newest is kept,
 * so nothing is queued for a slow subscriber. Moved by one thread at a time.
 *
 * <pre>
 * state      leaves on
 * Safe       at risk -> AtRisk; loss -> Lost; released -> over
 * AtRisk     safe again -> Safe; loss -> Lost; released -> over
 * Lost       is over
 * </pre>
 */
final class HoldStates {

    private final Grant grant;
    private final List<Watcher> watchers = new CopyOnWriteArrayList<>();
    private volatile HoldState newest;
    private volatile boolean isOver;

    HoldStates(Grant grant, HoldState first) {
        this.grant = grant;
        this.newest = first;
    }

    /** The states of a hold that was already over when a subscriber asked for them. */
    static HoldStates ended(Grant grant, @Nullable LockLostException loss) {
        HoldStates ended = new HoldStates(grant, loss == null ? new HoldState.Safe() : new HoldState.Lost(loss));
        ended.isOver = true;
        return ended;
    }

    void tell(HoldState now) {
        newest = now;
        if (now instanceof HoldState.Lost) {
            complete();
        } else {
            watchers.forEach(Watcher::drain);
        }
    }

    /** There are no more. */
    void complete() {
        isOver = true;
        watchers.forEach(Watcher::drain);
        watchers.clear();
    }

    void add(Watcher watcher) {
        if (!isOver) {
            watchers.add(watcher);
        }
        watcher.states = this;
        if (watcher.isDone) {
            watchers.remove(watcher);
        }
        watcher.drain();
    }

    /** The state as it is now, because a slow subscriber may get it late. */
    private HoldState present() {
        return newest instanceof HoldState.AtRisk risk
                ? new HoldState.AtRisk(Duration.ofNanos(Math.max(0, grant.remaining())), risk.cause())
                : newest;
    }

    /**
     * One subscriber. No operator of Reactor does this: one that changes the thread fetches ahead, so a slow subscriber
     * would get a state that is over. Safe for use from any thread. One task of the work scheduler at a time delivers
     * the news.
     */
    static final class Watcher implements Subscription, Runnable {

        private static final AtomicIntegerFieldUpdater<Watcher> NEWS =
                AtomicIntegerFieldUpdater.newUpdater(Watcher.class, "news");
        private static final AtomicLongFieldUpdater<Watcher> REQUESTED =
                AtomicLongFieldUpdater.newUpdater(Watcher.class, "requested");

        private final UserCallbacks callbacks;
        private final Subscriber<? super HoldState> actual;
        private volatile @Nullable HoldStates states;
        private volatile boolean isDone;

        @SuppressWarnings("UnusedVariable") // only ever used through NEWS
        private volatile int news;

        private volatile long requested;
        /** Touched by who tells, as is all below. */
        private @Nullable Class<?> told;

        Watcher(UserCallbacks callbacks, Subscriber<? super HoldState> actual) {
            this.callbacks = callbacks;
            this.actual = actual;
        }

        @Override
        public void request(long n) {
            if (Operators.validate(n)) {
                Operators.addCap(REQUESTED, this, n);
                drain();
            }
        }

        @Override
        public void cancel() {
            isDone = true;
            HoldStates watched = states;
            if (watched != null) {
                watched.watchers.remove(this);
            }
        }

        private void drain() {
            if (NEWS.getAndIncrement(this) == 0) {
                callbacks.schedule(this);
            }
        }

        @Override
        public void run() {
            int heard = 1;
            do {
                tell();
                heard = NEWS.addAndGet(this, -heard);
            } while (heard != 0);
        }

        private void tell() {
            HoldStates watched = states;
            if (watched == null || isDone) {
                return;
            }
            boolean isLast = watched.isOver; // read first: the state that is read then is the last
            HoldState now = watched.present();
            boolean isUntold = now.getClass() != told && (!isLast || now instanceof HoldState.Lost);
            if (isUntold && requested > 0) {
                isUntold = false;
                told = now.getClass();
                Operators.produced(REQUESTED, this, 1);
                actual.onNext(now);
            }
            if (isLast && !isUntold && !isDone) {
                isDone = true;
                actual.onComplete();
            }
        }
    }
}
