package io.github.reactivelock.benchmarks.client;

import com.sun.management.OperatingSystemMXBean;
import io.github.reactivelock.benchmarks.side.Side;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** One side's turn in one process. */
public final class Turn {

    private static final long SECONDS_TO_END = 60;

    final Side side;
    public final Load load;
    final long deadline;
    final Gaps gaps = new Gaps();
    private final long startAt;

    /** Times are those of {@link System#nanoTime()}, which all processes of a machine share. */
    public Turn(Side side, Load load, long startAt, long nanos) {
        this.side = side;
        this.load = load;
        this.startAt = startAt;
        this.deadline = startAt + nanos;
    }

    public Outcome run() throws InterruptedException {
        CountDownLatch done = new CountDownLatch(load.flows());
        List<Flow> flows = new ArrayList<>();
        for (int i = 0; i < load.flows(); i++) {
            flows.add(new Flow(this, i, done));
        }
        for (long wait = startAt - System.nanoTime(); wait > 0; wait = startAt - System.nanoTime()) {
            LockSupport.parkNanos(wait);
        }
        long cpu = cpuTime();
        gaps.start(System.nanoTime());
        flows.forEach(Flow::next);
        if (!done.await(
                deadline - System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS_TO_END), TimeUnit.NANOSECONDS)) {
            throw new IllegalStateException(done.getCount() + " of " + load.flows() + " flows never ended");
        }
        for (Flow flow : flows) {
            if (flow.failure != null) {
                throw new IllegalStateException("an acquisition failed", flow.failure);
            }
        }
        return Outcome.of(flows, gaps.longest(deadline), cpuTime() - cpu);
    }

    /** Processor time of this process, in nanoseconds. */
    static long cpuTime() {
        return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
    }
}
