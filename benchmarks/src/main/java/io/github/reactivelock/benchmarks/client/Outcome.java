package io.github.reactivelock.benchmarks.client;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;

/**
 * The result of one process in one turn. It travels to the coordinator as one line of text.
 *
 * @param inTime acquisitions that ended before the end of the turn
 * @param total those that ended after it as well
 * @param longestGap the longest time without the lock, in nanoseconds
 * @param cpu what the process used of processors meanwhile, in nanoseconds
 * @param moments asked, entered and ended of every acquisition, as far as they were recorded
 * @param changes how often another process entered than the one before it, as far as that was recorded
 */
@SuppressWarnings("ArrayRecordComponent") // outcomes are never compared
public record Outcome(long inTime, long total, long longestGap, long cpu, long[] moments, long changes) {

    private static final int MOMENTS = 3;

    public static Outcome of(List<Flow> flows, long longestGap, long cpu) {
        int length = flows.stream().mapToInt(flow -> flow.recorded).sum();
        long[] moments = new long[length];
        int at = 0;
        for (Flow flow : flows) {
            System.arraycopy(flow.moments, 0, moments, at, flow.recorded);
            at += flow.recorded;
        }
        long inTime = flows.stream().mapToLong(flow -> flow.inTime).sum();
        long total = flows.stream().mapToLong(flow -> flow.total).sum();
        return new Outcome(inTime, total, longestGap, cpu, moments, 0);
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
                all.stream().flatMapToLong(Arrays::stream).toArray(),
                changes(all));
    }

    /** The clock is the same for all processes of a machine. */
    private static long changes(List<long[]> processes) {
        List<Entry> entries = new ArrayList<>();
        for (int process = 0; process < processes.size(); process++) {
            long[] moments = processes.get(process);
            for (int i = 0; i < moments.length; i += MOMENTS) {
                entries.add(new Entry(moments[i + 1], process));
            }
        }
        entries.sort(Comparator.comparingLong(Entry::at));
        long changes = 0;
        for (int i = 1; i < entries.size(); i++) {
            changes += entries.get(i).process() == entries.get(i - 1).process() ? 0 : 1;
        }
        return changes;
    }

    private record Entry(long at, int process) {}

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
                moments,
                0);
    }
}
