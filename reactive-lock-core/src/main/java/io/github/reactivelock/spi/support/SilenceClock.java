package io.github.reactivelock.spi.support;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * A clock that stands still while this process gets no turn, and for a moment after that, in which answers may lie
 * unread. Each verdict on somebody else's silence is a time of this clock: after a long collection of garbage a timer
 * may run before the driver reads what came meanwhile. A deadline of a lease is no such verdict; that is a time of
 * {@link SuspendClock}.
 *
 * <p>A beat every {@value #BEAT_MILLIS} ms counts the time while a verdict is pending. Safe for use from any thread.
 *
 * <pre>
 * state   event
 * IN TIME a beat comes in time   -> IN TIME, its time counts
 * IN TIME a beat comes late      -> LATE, its time does not count, nor does a moment from now on; but eight beats of it
 *                                   count if it came in such a moment: a process that is always late notices silence
 *                                   too
 * LATE    a beat comes late      -> LATE, eight beats of its time count
 * LATE    a beat comes in time   -> IN TIME
 * </pre>
 */
public final class SilenceClock {

    private static final long BEAT_MILLIS = 50;
    private static final long BEAT = TimeUnit.MILLISECONDS.toNanos(BEAT_MILLIS);
    private static final long LONGEST_IN_TIME = 8 * BEAT;
    private static final long MOMENT = TimeUnit.MILLISECONDS.toNanos(250);

    private static final SilenceClock OF_THIS_PROCESS = new SilenceClock(System::nanoTime, DriverThreads.timer());

    /**
     * The last beat, the time that had counted by then, from when on it counts again, and whether that beat was late.
     */
    private record Beat(long at, long counted, long countsFrom, boolean late) {

        long counted(long now) {
            if (endsAPause(now)) {
                return counted;
            }
            long from = countsFrom - at > 0 ? countsFrom : at;
            return counted + Math.min(Math.max(0, now - from), LONGEST_IN_TIME);
        }

        private boolean isLate(long now) {
            return now - at > LONGEST_IN_TIME;
        }

        private boolean endsAPause(long now) {
            return isLate(now) && !late && at - countsFrom >= 0;
        }

        Beat next(long now) {
            return new Beat(now, counted(now), endsAPause(now) ? now + MOMENT : countsFrom, isLate(now));
        }
    }

    private final LongSupplier clock;
    private final Scheduler timer;
    private final Scheduler.Worker beater;
    private final Disposable.Swap beats = Disposables.swap();
    private final AtomicInteger verdicts = new AtomicInteger();
    private final AtomicBoolean beating = new AtomicBoolean();
    private volatile Beat last;

    /**
     * By a clock and a timer of the caller's.
     *
     * @param clock nanoseconds, monotonic
     * @param timer runs the beats and the verdicts
     */
    public SilenceClock(LongSupplier clock, Scheduler timer) {
        this.clock = clock;
        this.timer = timer;
        this.beater = timer.createWorker();
        long now = clock.getAsLong();
        this.last = new Beat(now, 0, now, false);
    }

    /**
     * The clock that all stores of this process share.
     *
     * @return by the machine's monotonic clock, on {@link DriverThreads#timer}
     */
    public static SilenceClock ofThisProcess() {
        return OF_THIS_PROCESS;
    }

    /**
     * Tells the time that counts as silence. It goes on only while a verdict is pending.
     *
     * @return nanoseconds, to be compared by difference
     */
    public long now() {
        return last.counted(clock.getAsLong());
    }

    /**
     * Has the time count, for one who looks at {@link #now} from time to time.
     *
     * @return to be disposed of when no verdict is pending any more
     */
    public Disposable count() {
        beginToCount();
        AtomicBoolean over = new AtomicBoolean();
        return () -> {
            if (over.compareAndSet(false, true)) {
                verdicts.decrementAndGet();
            }
        };
    }

    /**
     * Calls a verdict when so much time has counted, on the timer.
     *
     * @param limit how long others may be silent
     * @param verdict must not block
     * @return takes the verdict back
     */
    public Disposable after(Duration limit, Runnable verdict) {
        return new Verdict(limit.toNanos(), verdict).begin();
    }

    /**
     * Waits until so much time has counted. Cold.
     *
     * @param limit how long others may be silent
     * @return completes on the timer
     */
    public Mono<Void> silence(Duration limit) {
        return Mono.create(sink -> {
            sink.onCancel(after(limit, sink::success));
        });
    }

    /**
     * Ends the wait for others when so much time has counted, as {@link Mono#timeout(Duration)} does by the plain
     * clock.
     *
     * @param source what others are asked
     * @param limit how long they may be silent
     * @param instead subscribed to then, on the timer
     * @param <T> the value's type
     * @return as the source, or what comes instead
     */
    public <T> Mono<T> timeout(Mono<T> source, Duration limit, Mono<? extends T> instead) {
        return source.timeout(silence(limit), instead);
    }

    private void beginToCount() {
        verdicts.incrementAndGet();
        if (beating.compareAndSet(false, true)) {
            long now = clock.getAsLong();
            Beat before = last;
            last = new Beat(now, before.counted, now, false);
            beatOn();
        }
    }

    private void beatOn() {
        beats.update(beater.schedulePeriodically(this::beat, BEAT, BEAT, TimeUnit.NANOSECONDS));
    }

    private void beat() {
        last = last.next(clock.getAsLong());
        if (verdicts.get() == 0) {
            beats.update(Disposables.disposed());
            beating.set(false);
            if (verdicts.get() > 0 && beating.compareAndSet(false, true)) {
                beatOn();
            }
        }
    }

    /** One verdict that is pending; over once, by its time or because it is taken back. */
    private final class Verdict implements Disposable {

        private final long limit;
        private final Runnable verdict;
        private final Disposable.Swap look = Disposables.swap();
        private final AtomicBoolean over = new AtomicBoolean();
        private long end;
        private long due;
        private boolean hadItsMoment;

        Verdict(long limit, Runnable verdict) {
            this.limit = limit;
            this.verdict = verdict;
        }

        Verdict begin() {
            beginToCount();
            end = now() + limit;
            lookAfter(limit);
            return this;
        }

        private void lookAfter(long nanos) {
            due = clock.getAsLong() + nanos;
            look.update(timer.schedule(this::look, nanos, TimeUnit.NANOSECONDS));
        }

        /** One that comes late may be the end of a pause too short for a beat to be late. */
        private void look() {
            long left = end - now();
            if (left > 0) {
                lookAfter(left);
            } else if (!hadItsMoment && clock.getAsLong() - due > BEAT) {
                hadItsMoment = true;
                lookAfter(MOMENT);
            } else if (over.compareAndSet(false, true)) {
                verdicts.decrementAndGet();
                verdict.run();
            }
        }

        @Override
        public void dispose() {
            if (over.compareAndSet(false, true)) {
                verdicts.decrementAndGet();
            }
            look.dispose();
        }

        @Override
        public boolean isDisposed() {
            return over.get();
        }
    }
}
