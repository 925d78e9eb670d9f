package io.github.reactivelock.benchmarks.client;

import io.github.reactivelock.benchmarks.side.Cycle;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * One flow of a {@link Load}: a loop of acquisitions, each begun where the one before it ended. It writes its own
 * record, which is read once the loop is over.
 */
final class Flow implements Cycle {

    private final Turn turn;
    private final long number;
    private final String key;
    private final CountDownLatch done;
    private final AtomicInteger calls = new AtomicInteger();
    private long askedAt;
    private long enteredAt;
    long inTime;
    long total;

    @Nullable
    Throwable failure;
    /** Three moments for each acquisition: asked, entered, ended. */
    long[] moments = {};

    int recorded;

    Flow(Turn turn, long number, CountDownLatch done) {
        this.turn = turn;
        this.number = number;
        this.key = turn.load.key(number);
        this.done = done;
    }

    /** A cycle that ends before its call returns must not make the stack grow. */
    void next() {
        if (calls.getAndIncrement() != 0) {
            return;
        }
        do {
            askedAt = System.nanoTime();
            turn.side.cycle(key, number, this);
        } while (calls.decrementAndGet() != 0);
    }

    @Override
    public void entered() {
        enteredAt = System.nanoTime();
        if (turn.load.note().hasGaps()) {
            turn.gaps.entered(enteredAt);
        }
    }

    @Override
    public void ended(@Nullable Throwable error) {
        long now = System.nanoTime();
        if (error != null) {
            failure = error;
            done.countDown();
            return;
        }
        total++;
        if (now <= turn.deadline) {
            inTime++;
            record(now);
            next();
        } else {
            done.countDown();
        }
    }

    private void record(long now) {
        if (turn.load.note().hasMoments()) {
            if (recorded == moments.length) {
                moments = Arrays.copyOf(moments, Math.max(3 * 1024, 2 * moments.length));
            }
            moments[recorded++] = askedAt;
            moments[recorded++] = enteredAt;
            moments[recorded++] = now;
        }
    }
}
