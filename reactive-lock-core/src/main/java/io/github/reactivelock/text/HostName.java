package io.github.reactivelock.text;

import io.github.reactivelock.spi.support.RandomId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The name of this machine, for people who read who holds a lock. No name service is asked, which may take seconds and
 * answer wrongly.
 */
public final class HostName {

    static final String UNKNOWN = "unknown-host";
    private static final Path OF_LINUX = Path.of("/proc/sys/kernel/hostname");
    /** Leaves room in an owner for the rest. */
    private static final int LONGEST = 64;

    private HostName() {}

    /** With the number of this process and a random part, as the name of an owner. */
    public static String ofThisProcess() {
        return get() + "/pid-" + ProcessHandle.current().pid() + "/"
                + RandomId.next().substring(0, 8);
    }

    static String get() {
        return of(System::getenv, OF_LINUX);
    }

    /** What the system says, or the environment; without characters that no owner may have. */
    static String of(UnaryOperator<@Nullable String> environment, Path file) {
        return Stream.of(content(file), environment.apply("HOSTNAME"), environment.apply("COMPUTERNAME"))
                .map(name -> name == null ? "" : name.replaceAll("[^A-Za-z0-9._-]", ""))
                .filter(name -> !name.isEmpty())
                .map(name -> name.substring(0, Math.min(LONGEST, name.length())))
                .findFirst()
                .orElse(UNKNOWN);
    }

    private static String content(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException | RuntimeException e) { // another system, or one that lets no one read it
            return "";
        }
    }
}
