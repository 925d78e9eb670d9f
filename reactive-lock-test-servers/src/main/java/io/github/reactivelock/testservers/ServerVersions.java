package io.github.reactivelock.testservers;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Which servers this JVM has met, with their versions. A server is met by what asks it for its address. It needs no
 * JUnit, so that the benchmarks can start servers.
 */
final class ServerVersions {

    private static final Pattern VERSION = Pattern.compile("\\d+\\.\\d+(?:\\.\\d+)?");
    private static final Set<String> SINCE_THE_LAST_CALL = new ConcurrentSkipListSet<>();

    private ServerVersions() {}

    static void met(String server) {
        SINCE_THE_LAST_CALL.add(server);
    }

    static List<String> metSinceTheLastCall() {
        return List.copyOf(SINCE_THE_LAST_CALL).stream()
                .filter(SINCE_THE_LAST_CALL::remove)
                .toList();
    }

    /** A server's name and the version that stands in what its program or its image says. */
    static String named(String server, String said) {
        Matcher version = VERSION.matcher(said);
        return server + " " + (version.find() ? version.group() : "of an unknown version");
    }

    /** What a program answers when it is asked for its version. */
    static String ask(Path program) {
        try {
            Process process = new ProcessBuilder(program.toString(), "--version")
                    .redirectErrorStream(true)
                    .start();
            try (InputStream output = process.getInputStream()) {
                String answer = new String(output.readAllBytes(), StandardCharsets.UTF_8).strip();
                if (process.waitFor() != 0) {
                    throw new IllegalStateException(program + " does not run: " + answer);
                }
                return answer;
            }
        } catch (IOException e) {
            throw new UncheckedIOException(program + " does not run", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
