package io.github.reactivelock.testservers;

import java.nio.file.Path;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/**
 * A server as tests handle it, with a directory of its own: it can be stopped, killed and paused. It ends with this JVM
 * at the latest. The methods block; they are for test threads.
 */
public abstract class TestServer implements AutoCloseable {

    private static final Duration READY_LIMIT = Duration.ofSeconds(60);

    final Path directory;
    Running running = new NotStarted();

    TestServer(Path directory) {
        this.directory = directory;
    }

    /**
     * Its working directory, which has its log.
     *
     * @return a directory that is deleted by {@link #close()}
     */
    public final Path directory() {
        return directory;
    }

    /**
     * Whether its process runs; a paused one does.
     *
     * @return false after {@link #stop()}, {@link #kill()} and {@link #close()}
     */
    public final boolean isRunning() {
        return running.isAlive();
    }

    /** Shuts the server down. */
    public final void stop() {
        running.stop();
    }

    /** Ends the server as {@code kill -9} does. */
    public final void kill() {
        running.kill();
    }

    /** Stops the server from running ({@code SIGSTOP}); its connections stay open and silent. */
    public final void pause() {
        running.pause();
    }

    /** Resumes a paused server. */
    public final void resume() {
        running.resume();
    }

    /** Ends the server and deletes its directory. */
    @Override
    public final void close() {
        killIfRunning();
        Scratch.delete(directory);
    }

    final void killIfRunning() {
        if (running.isAlive()) {
            running.kill();
        }
    }

    /** Asks a server that listens already whether it is ready, until it is; the text says what it has not done. */
    final void awaitReady(Running started, BooleanSupplier isReady, String notYet) {
        long until = System.nanoTime() + READY_LIMIT.toNanos();
        while (!isReady.getAsBoolean()) {
            if (!started.isAlive() || System.nanoTime() - until > 0) {
                throw new IllegalStateException(notYet + " within " + READY_LIMIT + ", see " + directory);
            }
            Pause.of(Duration.ofMillis(10));
        }
    }

    private static final class NotStarted implements Running {
        @Override
        public boolean isAlive() {
            return false;
        }

        @Override
        public void stop() {}

        @Override
        public void kill() {}

        @Override
        public void pause() {}

        @Override
        public void resume() {}
    }
}
