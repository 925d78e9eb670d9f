package io.github.reactivelock.faults;

import io.github.reactivelock.testkit.history.HistoryEvent;
import io.github.reactivelock.testkit.history.HistoryFile;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.IntFunction;

/** The client processes of a soak. One that was killed is replaced at the start of the next round. */
final class Fleet implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(90);
    private static final int STARTED_AT_ONCE = Math.max(2, Runtime.getRuntime().availableProcessors());

    /** A process's heap after a collection, when it was warm and at last. */
    private record Heap(long warm, long last) {}

    private final Path directory;
    private final IntFunction<String> uris;
    private final int size;
    private final List<ClientProcess> processes = new ArrayList<>();
    private final Map<String, Integer> rounds = new HashMap<>();
    private final Map<String, Heap> heaps = new HashMap<>();
    private final List<String> inRound = new ArrayList<>();
    private int started;

    /** Starts nothing yet. */
    Fleet(int size, Path directory, IntFunction<String> uris) {
        this.size = size;
        this.directory = directory;
        this.uris = uris;
    }

    /** Lets all of them work; those that are missing are started first. */
    void begin(int round, Duration time) {
        while (processes.size() < size) {
            int before = processes.size();
            for (int i = before; i < Math.min(size, before + STARTED_AT_ONCE); i++) {
                processes.add(ClientProcess.start("client-" + started, uris.apply(started % size), directory, started));
                started++;
            }
            processes.subList(before, processes.size()).forEach(ClientProcess::untilReady);
        }
        inRound.clear();
        for (ClientProcess process : processes) {
            inRound.add(process.name());
            process.say("round " + round + " " + time.toMillis());
        }
    }

    /** Waits until all that live have ended their work. */
    List<HistoryEvent> end(int round) {
        for (ClientProcess process : processes) {
            long heap = Long.parseLong(process.heard("round " + round + " ", PATIENCE));
            int lived = rounds.merge(process.name(), 1, Integer::sum);
            if (lived > 1) {
                heaps.merge(process.name(), new Heap(heap, heap), (old, now) -> new Heap(old.warm, now.last));
            }
        }
        List<Path> files = inRound.stream()
                .map(name -> Client.file(directory, name, round))
                .toList();
        List<HistoryEvent> events = HistoryFile.read(files);
        files.forEach(file -> {
            file.toFile().delete();
        });
        return events;
    }

    ClientProcess any() {
        return processes.get(ThreadLocalRandom.current().nextInt(processes.size()));
    }

    boolean canSpareOne() {
        return processes.size() > 1;
    }

    /** Kills one and says which. */
    String killOne() {
        ClientProcess victim = any();
        victim.kill();
        processes.remove(victim);
        return victim.name();
    }

    /** By how much the heaps of those that lived for some rounds have grown since they were warm. */
    double heapGrowthPercent() {
        long warm = heaps.values().stream().mapToLong(Heap::warm).sum();
        long last = heaps.values().stream().mapToLong(Heap::last).sum();
        return warm == 0 ? 0 : 100.0 * last / warm - 100;
    }

    @Override
    public void close() {
        processes.forEach(ClientProcess::close);
    }
}
