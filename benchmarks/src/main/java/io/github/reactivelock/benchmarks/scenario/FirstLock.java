package io.github.reactivelock.benchmarks.scenario;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.benchmarks.report.Figure;
import io.github.reactivelock.benchmarks.report.Report;
import io.github.reactivelock.benchmarks.report.Table;
import io.github.reactivelock.lettuce.LettuceLockBackend;
import io.lettuce.core.RedisClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import reactor.core.publisher.Mono;

/**
 * How long the first lock of a process takes, beside the first PING of Lettuce. Every start is a JVM of its own, with
 * no options at all; the two take turns, and a ratio is taken within a turn.
 */
public final class FirstLock implements Scenario {

    private static final int MOST_TURNS = 15;
    private static final int TURNS_A_ROUND = 2;
    private static final String OURS = "ours";
    private static final String PING = "bare-ping";
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    /** In milliseconds: since the process was started, and since its main method was. */
    private record Start(double whole, double afterMain) {}

    @Override
    public String name() {
        return "first-lock";
    }

    @Override
    public void run(Bench bench, Report report) {
        bench.disband();
        String uri = bench.redis().uri();
        int turns = Math.min(MOST_TURNS, TURNS_A_ROUND * bench.pace().rounds());
        start(OURS, uri);
        start(PING, uri);
        List<Start> ours = new ArrayList<>();
        List<Start> pings = new ArrayList<>();
        List<Double> ratios = new ArrayList<>();
        for (int i = 0; i < turns; i++) {
            if (i % 2 == 0) {
                ours.add(start(OURS, uri));
            }
            pings.add(start(PING, uri));
            if (i % 2 == 1) {
                ours.add(start(OURS, uri));
            }
            ratios.add(ours.get(i).whole / pings.get(i).whole);
        }
        double ratio = Race.median(ratios);
        report.progress(String.format(Locale.ROOT, "%s: %d starts each, %.2f times a PING", name(), turns, ratio));
        Table table = new Table(
                "The first lock of a process, and the first PING of one, each in a new JVM",
                List.of(name(), "ms from the start of the JVM", "of it after main began", "ours takes"));
        table.add(row(OURS, ours, ""));
        table.add(row(PING, pings, String.format(Locale.ROOT, "%.2f ×", ratio)));
        report.add(table);
        report.add(Figure.ratio(name(), PING, ratio));
    }

    private static List<String> row(String side, List<Start> starts, String ratio) {
        return List.of(
                side,
                shown(starts.stream().map(Start::whole).toList()),
                shown(starts.stream().map(Start::afterMain).toList()),
                ratio);
    }

    private static String shown(List<Double> millis) {
        return String.format(Locale.ROOT, "%.0f", Race.median(millis));
    }

    private static Start start(String side, String uri) {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        ProcessBuilder command = new ProcessBuilder(
                        java, "-cp", System.getProperty("java.class.path"), FirstLock.class.getName(), side, uri)
                .redirectError(ProcessBuilder.Redirect.INHERIT);
        long since = System.nanoTime();
        try {
            Process process = command.start();
            try (BufferedReader answers = process.inputReader()) {
                String answer = answers.readLine();
                double whole = millis(System.nanoTime() - since);
                if (answer == null) {
                    throw new IllegalStateException("a first " + side + " failed; see its output above");
                }
                return new Start(whole, millis(Long.parseLong(answer)));
            } finally {
                process.destroy();
            }
        } catch (IOException e) {
            throw new UncheckedIOException("a process could not be started", e);
        }
    }

    private static double millis(long nanos) {
        return nanos / 1e6;
    }

    /**
     * The measured process: takes one lock or sends one PING, prints how many nanoseconds it took, and ends.
     *
     * @param args the side, and where Redis is
     * @throws ExecutionException if Redis does not answer
     * @throws InterruptedException never
     */
    public static void main(String[] args) throws ExecutionException, InterruptedException {
        long since = System.nanoTime();
        if (args[0].equals(OURS)) {
            LockClient.create(LettuceLockBackend.connect(args[1]))
                    .withLock("first", Mono.just(1))
                    .block(PATIENCE);
        } else {
            RedisClient.create(args[1]).connect().async().ping().get();
        }
        System.out.println(System.nanoTime() - since);
        Runtime.getRuntime().halt(0);
    }
}
