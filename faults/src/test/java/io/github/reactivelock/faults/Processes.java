package io.github.reactivelock.faults;

import io.github.reactivelock.testkit.history.HistoryEvent;
import io.github.reactivelock.testkit.history.HistoryFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** Two client processes that share a directory. */
record Processes(Path directory, ClientProcess holder, ClientProcess waiter) implements AutoCloseable {

    static final long FOR_LONG = Duration.ofMinutes(5).toMillis();
    private static final Duration LIMIT = Duration.ofSeconds(60);

    Processes(Store store) {
        this(newDirectory(), store.address(store.ports()));
    }

    private Processes(Path directory, String address) {
        this(
                directory,
                ClientProcess.start("holder", address, directory, 0),
                ClientProcess.start("waiter", address, directory, 1));
        try {
            holder.untilReady();
            waiter.untilReady();
        } catch (AssertionError e) {
            close();
            throw e;
        }
    }

    long granted(ClientProcess client, String id) {
        return Long.parseLong(client.heard("granted " + id + " ", LIMIT));
    }

    /** Asks for as long as the store refuses: one that was stopped may have to connect anew. */
    long grantedAtLast(ClientProcess client, String key) {
        for (int attempt = 0; attempt < 20; attempt++) {
            String id = key + attempt;
            client.say("hold " + id + " " + key + " " + FOR_LONG);
            String answer = client.heardOneOf(List.of("granted " + id + " ", "failed " + id + " "), LIMIT);
            if (answer.startsWith("granted")) {
                return Long.parseLong(answer.substring(answer.lastIndexOf(' ') + 1));
            }
        }
        throw new AssertionError(client.name() + " does not get '" + key + "'");
    }

    /** The token of a lock that this client keeps: it asked no store for its last hold, so that is the next pass. */
    long kept(ClientProcess client, String key) {
        long last = 0;
        for (int attempt = 0; attempt < 20; attempt++) {
            String id = "kept-" + key + attempt;
            client.say("keep " + id + " " + key);
            long token = granted(client, id);
            client.heard("released " + id, LIMIT);
            if (token == last + 1) {
                return token;
            }
            last = token;
        }
        throw new AssertionError(client.name() + " does not keep '" + key + "'");
    }

    List<HistoryEvent> events() {
        return HistoryFile.read(List.of(Client.file(directory, "holder", 0), Client.file(directory, "waiter", 0)));
    }

    @Override
    public void close() {
        holder.close();
        waiter.close();
        Leftovers.delete(directory);
    }

    private static Path newDirectory() {
        try {
            return Files.createTempDirectory("reactive-lock-clients-");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
