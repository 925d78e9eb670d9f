package io.github.reactivelock.reliability;

import io.github.reactivelock.testservers.Loopback;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** One H2 with a database in a file that is served over TCP by a process of its own. */
final class H2Store extends SqlStore {

    private static final Duration START = Duration.ofSeconds(40);

    private final Path directory;
    private final int port = Loopback.freePort();
    private ClientProcess server;

    H2Store() {
        super("UTF8TOSTRING(lock_key)");
        try {
            directory = Files.createTempDirectory("reactive-lock-h2-");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server = prepared();
        serve();
        createTables();
    }

    private ClientProcess prepared() {
        ClientProcess started =
                ClientProcess.start("h2", H2Process.class, directory.toString(), Integer.toString(port));
        started.heard("is ready", START);
        return started;
    }

    private void serve() {
        server.say("serve");
        server.heard("serves", START);
    }

    void restart() {
        ClientProcess next = prepared();
        server.kill();
        server = next;
        serve();
    }

    @Override
    List<Integer> ports() {
        return List.of(port);
    }

    /** The default, to write half a second later, gives up commits that were answered when the server is killed. */
    @Override
    String address(List<Integer> ports) {
        String url = "tcp://127.0.0.1:" + ports.get(0) + "/./locks;WRITE_DELAY=0";
        return "r2dbc:h2://127.0.0.1?url=" + URLEncoder.encode(url, StandardCharsets.UTF_8);
    }

    @Override
    void pause() {
        server.pause();
    }

    @Override
    void resume() {
        server.resume();
    }

    @Override
    public void close() {
        super.close();
        server.close();
        Leftovers.delete(directory);
    }
}
