package io.github.reactivelock.testkit.history;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;

/**
 * Events in a file, one a line. One system call writes each event before the flow continues, so a killed process has
 * written all but perhaps its last. Safe for use from any thread.
 */
public final class HistoryFile implements Consumer<HistoryEvent>, AutoCloseable {

    private final FileChannel file;

    /**
     * Opens a file, and appends to it if it exists.
     *
     * @param path where
     */
    public HistoryFile(Path path) {
        try {
            file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write a history to " + path, e);
        }
    }

    @Override
    public void accept(HistoryEvent event) {
        ByteBuffer line = ByteBuffer.wrap((event.line() + "\n").getBytes(StandardCharsets.UTF_8));
        try {
            while (line.hasRemaining()) {
                file.write(line);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("a history cannot be written", e);
        }
    }

    @Override
    public void close() {
        try {
            file.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Merges the files of several processes. Skips a last line that was cut off.
     *
     * @param paths the files; a missing file counts as empty
     * @return all events, in no particular order
     */
    public static List<HistoryEvent> read(Collection<Path> paths) {
        List<HistoryEvent> events = new ArrayList<>();
        for (Path path : paths) {
            try {
                String text = Files.exists(path) ? Files.readString(path) : "";
                text.substring(0, text.lastIndexOf('\n') + 1)
                        .lines()
                        .map(HistoryEvent::of)
                        .forEach(events::add);
            } catch (IOException e) {
                throw new UncheckedIOException("cannot read the history " + path, e);
            }
        }
        return events;
    }
}
