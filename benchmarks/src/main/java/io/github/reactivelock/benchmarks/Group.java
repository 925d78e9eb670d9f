package io.github.reactivelock.benchmarks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** Client processes that act together. All sides of a scenario live in the same processes and take turns there. */
final class Group implements AutoCloseable {

    private static final long HEAD_START_NANOS = 30_000_000;

    /**
     * Processes that outnumber the processors would go on compiling for longer than they are measured, each for itself,
     * and what is measured would be the compiler.
     */
    private static final List<String> QUICKLY_COMPILED = List.of("-XX:TieredStopAtLevel=1");

    private final List<WorkerProcess> processes;
    private final Set<String> opened = new HashSet<>();

    Group(int size) {
        this.processes = Stream.generate(() -> new WorkerProcess(size > 1 ? QUICKLY_COMPILED : List.of()))
                .limit(size)
                .toList();
    }

    int size() {
        return processes.size();
    }

    void open(String side, String uri) {
        if (opened.add(side)) {
            together("open " + side + " " + uri);
        }
    }

    void close(String side) {
        together("close " + side);
    }

    /** Lets a side take its turn, with the flows spread over all processes. */
    Outcome run(String side, Load load, Duration time) {
        long startAt = System.nanoTime() + HEAD_START_NANOS;
        for (int i = 0; i < processes.size(); i++) {
            processes.get(i).send(load.share(i, processes.size()).request(side, startAt, time));
        }
        return Outcome.together(answers().stream().map(Outcome::decode).toList());
    }

    /** As {@link #run}, for the shares of {@link Profiler#PARTS} in the first process. */
    String profile(String side, Load load, Duration time) {
        long startAt = System.nanoTime() + HEAD_START_NANOS;
        for (int i = 0; i < processes.size(); i++) {
            String request = load.share(i, processes.size()).request(side, startAt, time);
            processes.get(i).send(i == 0 ? request.replaceFirst("run", "profile") : request);
        }
        return answers().get(0);
    }

    /** Asks the first process alone. */
    String ask(String request) {
        processes.get(0).send(request);
        return processes.get(0).answer();
    }

    private void together(String request) {
        processes.forEach(process -> process.send(request));
        List<String> unused = answers();
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
