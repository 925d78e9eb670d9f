package io.github.reactivelock.benchmarks.client;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import one.profiler.AsyncProfiler;
import one.profiler.AsyncProfilerLoader;
import one.profiler.Counter;

/** Where a process spends its processor time, by async-profiler. The stack of each sample assigns it to one part. */
public final class Profiler {

    private static final long INTERVAL_NANOS = 500_000;

    /** The first part whose pattern a stack contains; the code on top assigns the rest. */
    private static final Map<String, Pattern> BY_STACK = ordered(
            "the JVM's own threads",
            "^\\[(C1|C2|VM|GC|Signal|Sweeper|Service|Reference|Finalizer|Common|Monitor)",
            "waking the driver's thread",
            "EPollSelectorImpl\\.wakeup",
            "parking and waking workers",
            "LockSupport\\.(un)?park",
            "waiting for the network",
            "EPollSelectorImpl\\.doSelect",
            "reading and writing",
            "SocketDispatcher\\.");

    private static final Map<String, Pattern> BY_CODE = ordered(
            "the benchmark",
            "io/github/reactivelock/benchmarks/",
            "this library",
            "io/github/reactivelock/",
            "the driver and Netty",
            "io/(lettuce|netty|r2dbc|asyncer)/|org/mariadb/",
            "Reactor",
            "reactor/");

    private static final String OTHER = "other";
    public static final List<String> PARTS = parts();

    private Profiler() {}

    private static Map<String, Pattern> ordered(String... namesAndPatterns) {
        Map<String, Pattern> ordered = new LinkedHashMap<>();
        for (int i = 0; i < namesAndPatterns.length; i += 2) {
            ordered.put(namesAndPatterns[i], Pattern.compile(namesAndPatterns[i + 1]));
        }
        return ordered;
    }

    private static List<String> parts() {
        Map<String, Pattern> all = new LinkedHashMap<>(BY_STACK);
        all.putAll(BY_CODE);
        all.put(OTHER, Pattern.compile(""));
        return List.copyOf(all.keySet());
    }

    /** The event of the samples, and the parts' shares in their order, while a turn lasts. */
    static String shares(Turn turn) throws InterruptedException {
        AsyncProfiler profiler;
        String event;
        try {
            profiler = AsyncProfilerLoader.load();
            event = start(profiler);
        } catch (IOException | IllegalStateException e) {
            throw new IllegalStateException("async-profiler does not work here: " + e.getMessage(), e);
        }
        turn.run();
        profiler.stop();
        return event + " " + shares(profiler.dumpCollapsed(Counter.SAMPLES));
    }

    /** Without the kernel's counters, which a container may not use, there are no frames of the kernel. */
    private static String start(AsyncProfiler profiler) throws IOException {
        String options = ",interval=" + INTERVAL_NANOS + ",threads";
        try {
            profiler.execute("start,event=cpu" + options);
            return "cpu";
        } catch (IllegalStateException | IllegalArgumentException refused) {
            profiler.execute("start,event=itimer" + options);
            return "itimer";
        }
    }

    private static String shares(String collapsed) {
        Map<String, Long> samples = new LinkedHashMap<>();
        PARTS.forEach(part -> samples.put(part, 0L));
        collapsed.lines().forEach(line -> {
            int count = line.lastIndexOf(' ');
            samples.merge(part(line.substring(0, count)), Long.valueOf(line.substring(count + 1)), Long::sum);
        });
        double all =
                Math.max(1, samples.values().stream().mapToLong(Long::longValue).sum());
        StringBuilder shares = new StringBuilder();
        samples.values().forEach(part -> shares.append(String.format(Locale.ROOT, "%.3f ", part / all)));
        return shares.toString().strip();
    }

    private static String part(String stack) {
        for (Map.Entry<String, Pattern> part : BY_STACK.entrySet()) {
            if (part.getValue().matcher(stack).find()) {
                return part.getKey();
            }
        }
        String[] frames = stack.split(";", -1);
        for (int i = frames.length - 1; i > 0; i--) {
            for (Map.Entry<String, Pattern> part : BY_CODE.entrySet()) {
                if (part.getValue().matcher(frames[i]).lookingAt()) {
                    return part.getKey();
                }
            }
        }
        return OTHER;
    }
}
