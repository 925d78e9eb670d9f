package io.github.reactivelock.testservers;

import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Says after each test class which servers it met, in the log of the build and in {@code target/servers-met.txt}, which
 * {@code config/servers-met} compares with the table of the documents. JUnit finds it by itself.
 */
public final class ServersMet implements AfterAllCallback {

    private static final Path FOLDER = Path.of("target");

    /** For JUnit. */
    public ServersMet() {}

    @Override
    public void afterAll(ExtensionContext context) throws IOException {
        Class<?> test = context.getRequiredTestClass();
        if (test.getName().indexOf('$') >= 0) {
            return;
        }
        for (String server : ServerVersions.metSinceTheLastCall()) {
            System.out.println("server: " + server + " for " + test.getSimpleName());
            if (Files.isDirectory(FOLDER)) {
                Files.writeString(FOLDER.resolve("servers-met.txt"), server + "\n", CREATE, APPEND);
            }
        }
    }
}
