package io.github.reactivelock.benchmarks.client;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** Client processes that act together. All sides of a scenario live in the same processes and take turns there. */
public final class Group implements AutoCloseable {

    private static final long HEAD_START_NANOS = 30_000_000;

    /**
     * Processes that outnumber the processors would each compile for longer than the measurement, which would then show
     * the compiler.
     */
    private static final List<String> QUICKLY_COMPILED = List.of("-XX:TieredStopAtLevel=1");

    private final List<WorkerProcess> processes;
    private final Set<String> opened = new HashSet<>();

    public Group(int size) {
        this(size, size > 1 ? QUICKLY_COMPILED : List.of());
    }

    /** @param options of the JVMs */
    public Group(int size, List<String> options) {
        this.processes =
                Stream.generate(() -> new WorkerProcess(options)).limit(size).toList();
    }

    public int size() {
        return processes.size();
    }

    public void open(String side, String uri) {
        if (opened.add(side)) {
            together("open " + side + " " + uri);
        }
    }

    public void close(String side) {
        together("close " + side);
    }

    /** Lets a side take its turn, with the flows spread over all processes. */
    public Outcome run(String side, Load load, Duration time) {
        return Outcome.together(
                turn("run", side, load, time).stream().map(Outcome::decode).toList());
    }

    /** As {@link #run}, and returns what {@link Profiler} finds in the first process. */
    public String profile(String side, Load load, Duration time) {
        return turn("profile", side, load, time).get(0);
    }

    /** @param verb for the first process; the others {@code run} */
    private List<String> turn(String verb, String side, Load load, Duration time) {
        long startAt = System.nanoTime() + HEAD_START_NANOS;
        for (int i = 0; i < processes.size(); i++) {
            Load share = load.share(i, processes.size());
            processes.get(i).send(share.request(i == 0 ? verb : "run", side, startAt, time));
        }
        return answers();
    }

    /** The number of the first process. */
    public long pid() {
        return processes.get(0).pid();
    }

    /** Asks the first process alone. */
    public String ask(String request) {
        processes.get(0).send(request);
        return processes.get(0).answer();
    }

    private void together(String request) {
        processes.forEach(process -> process.send(request));
        answers();
    }

    private List<String> answers() {
        List<String> answers = new ArrayList<>();
        for (WorkerProcess process : processes) {
            answers.add(process.answer());
        }
        return answers;
    }

    @Override
    public void close() {
        processes.forEach(WorkerProcess::close);
    }
}
