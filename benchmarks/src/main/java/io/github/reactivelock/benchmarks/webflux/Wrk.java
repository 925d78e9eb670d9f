package io.github.reactivelock.benchmarks.webflux;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The load generator {@code wrk}, which each side is asked by in turn. */
final class Wrk implements AutoCloseable {

    static final int CONNECTIONS = 64;

    private static final Pattern MEASURED =
            Pattern.compile("^measured (\\d+) (\\d+) (\\d+) (\\d+) (\\d+) (\\d+)$", Pattern.MULTILINE);

    private final Path script;

    /**
     * What one turn showed.
     *
     * @param answered requests that succeeded
     * @param seconds how long it took
     * @param median half of all requests took at most this, in milliseconds
     * @param tail 99 of 100 did
     * @param errors requests that failed, in any way
     */
    record Load(long answered, double seconds, double median, double tail, long errors) {

        double perSecond() {
            return answered / seconds;
        }
    }

    Wrk() {
        String path = Optional.ofNullable(System.getenv("PATH")).orElse("");
        if (Stream.of(path.split(File.pathSeparator, -1))
                .noneMatch(entry -> Files.isExecutable(Path.of(entry, "wrk")))) {
            throw new IllegalStateException("wrk is not on the PATH; install it (Debian: apt-get install wrk)");
        }
        try (InputStream in = Wrk.class.getResourceAsStream("wrk.lua")) {
            if (in == null) {
                throw new IOException("wrk.lua is missing from the jar");
            }
            this.script = Files.createTempFile("reactive-lock-benchmarks", ".lua");
            Files.copy(in, script, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException("the script for wrk could not be written", e);
        }
    }

    /** Asks for keys below the URL by chance; whole seconds are all that wrk knows. */
    Load run(String url, int keys, Duration time) {
        ProcessBuilder command = new ProcessBuilder(
                        "wrk",
                        "-t2",
                        "-c" + CONNECTIONS,
                        "-d" + Math.max(1, time.toSeconds()) + "s",
                        "--latency",
                        "-s",
                        script.toString(),
                        url,
                        "--",
                        Integer.toString(keys))
                .redirectErrorStream(true);
        try {
            Process wrk = command.start();
            String said = new String(wrk.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            Matcher measured = MEASURED.matcher(said);
            if (wrk.waitFor() != 0 || !measured.find()) {
                throw new IllegalStateException("wrk says: " + said);
            }
            long requests = Long.parseLong(measured.group(1));
            long refused = Long.parseLong(measured.group(5));
            return new Load(
                    requests - refused,
                    micros(measured.group(2)) / 1e6,
                    micros(measured.group(3)) / 1e3,
                    micros(measured.group(4)) / 1e3,
                    refused + Long.parseLong(measured.group(6)));
        } catch (IOException e) {
            throw new UncheckedIOException("wrk could not be started", e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static double micros(String text) {
        return Long.parseLong(text);
    }

    @Override
    public void close() {
        try {
            Files.delete(script);
        } catch (IOException e) {
            throw new UncheckedIOException("not deleted: " + script, e);
        }
    }
}
