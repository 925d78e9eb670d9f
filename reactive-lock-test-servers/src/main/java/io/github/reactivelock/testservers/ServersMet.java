package io.github.reactivelock.testservers;

import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Says after each test class which servers it met, in the log of the build and in {@code target/servers-met.txt}, which
 * {@code config/servers-met} compares with the table of the documents. JUnit finds it by itself. A class meets a server
 * that it asks for its address.
 */
public final class ServersMet implements AfterAllCallback {

    private static final Pattern VERSION = Pattern.compile("\\d+\\.\\d+(?:\\.\\d+)?");
    private static final Path FOLDER = Path.of("target");
    private static final Set<String> SINCE_THE_LAST_CLASS = new ConcurrentSkipListSet<>();

    /** For JUnit. */
    public ServersMet() {}

    static void met(String server) {
        SINCE_THE_LAST_CLASS.add(server);
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

    @Override
    public void afterAll(ExtensionContext context) throws IOException {
        Class<?> test = context.getRequiredTestClass();
        if (test.getName().indexOf('$') >= 0) {
            return;
        }
        for (String server : List.copyOf(SINCE_THE_LAST_CLASS)) {
            SINCE_THE_LAST_CLASS.remove(server);
            System.out.println("server: " + server + " for " + test.getSimpleName());
            if (Files.isDirectory(FOLDER)) {
                Files.writeString(FOLDER.resolve("servers-met.txt"), server + "\n", CREATE, APPEND);
            }
        }
    }
}
