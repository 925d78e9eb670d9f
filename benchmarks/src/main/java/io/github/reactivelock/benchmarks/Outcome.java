package io.github.reactivelock.benchmarks;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;

/**
 * The result of one process in one turn. It travels to the coordinator as one line of text.
 *
 * @param inTime acquisitions that ended before the end of the turn
 * @param total those that ended after it as well
 * @param longestGap the longest time without the lock, in nanoseconds
 * @param cpu what the process used of processors meanwhile, in nanoseconds
 * @param moments asked, entered and ended of every acquisition, as far as they were recorded
 */
@SuppressWarnings("ArrayRecordComponent") // outcomes are never compared
record Outcome(long inTime, long total, long longestGap, long cpu, long[] moments) {

    static Outcome of(List<Flow> flows, long longestGap, long cpu) {
        int length = flows.stream().mapToInt(flow -> flow.recorded).sum();
        long[] moments = new long[length];
        int at = 0;
        for (Flow flow : flows) {
            System.arraycopy(flow.moments, 0, moments, at, flow.recorded);
            at += flow.recorded;
        }
        long inTime = flows.stream().mapToLong(flow -> flow.inTime).sum();
        long total = flows.stream().mapToLong(flow -> flow.total).sum();
        return new Outcome(inTime, total, longestGap, cpu, moments);
    }

    /** All processes of one turn together. */
    static Outcome together(List<Outcome> outcomes) {
        List<long[]> all = new ArrayList<>();
        long inTime = 0;
        long total = 0;
        long longestGap = 0;
        long cpu = 0;
        for (Outcome outcome : outcomes) {
            inTime += outcome.inTime;
            total += outcome.total;
            longestGap = Math.max(longestGap, outcome.longestGap);
            cpu += outcome.cpu;
            all.add(outcome.moments);
        }
        return new Outcome(
                inTime,
                total,
                longestGap,
                cpu,
                all.stream().flatMapToLong(Arrays::stream).toArray());
    }

    String encode() {
        ByteBuffer bytes = ByteBuffer.allocate(moments.length * Long.BYTES);
        bytes.asLongBuffer().put(moments);
        return inTime + " " + total + " " + longestGap + " " + cpu + " "
                + Base64.getEncoder().encodeToString(bytes.array());
    }

    static Outcome decode(String text) {
        String[] parts = text.split(" ", -1);
        ByteBuffer bytes = ByteBuffer.wrap(Base64.getDecoder().decode(parts[4]));
        long[] moments = new long[bytes.remaining() / Long.BYTES];
        bytes.asLongBuffer().get(moments);
        return new Outcome(
                Long.parseLong(parts[0]),
                Long.parseLong(parts[1]),
                Long.parseLong(parts[2]),
                Long.parseLong(parts[3]),
                moments);
    }
}
