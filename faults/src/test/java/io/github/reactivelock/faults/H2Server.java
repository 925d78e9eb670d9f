package io.github.reactivelock.faults;

import io.github.reactivelock.testservers.Loopback;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** An H2 with a database in a file that is served over TCP by a process of its own. */
final class H2Server {

    private static final Duration START = Duration.ofMinutes(3);

    final int port = Loopback.freePort();
    private final Path directory;
    private ClientProcess process;

    H2Server() {
        try {
            directory = Files.createTempDirectory("reactive-lock-h2-");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        process = prepared();
        serve();
    }

    private ClientProcess prepared() {
        ClientProcess started =
                ClientProcess.start("h2", H2Process.class, directory.toString(), Integer.toString(port));
        started.heard("is ready", START);
        return started;
    }

    private void serve() {
        process.say("serve");
        process.heard("serves", START);
    }

    /** {@code kill -9}, then a start with what was there. */
    void restart() {
        ClientProcess next = prepared();
        process.kill();
        process = next;
        serve();
    }

    void pause() {
        process.pause();
    }

    void resume() {
        process.resume();
    }

    void close() {
        process.close();
        Leftovers.delete(directory);
    }
}
