package io.github.reactivelock.testservers;

/** A server that runs for a test, as a process of its own or in a container. */
interface Running {

    boolean isAlive();

    /** Asks it to end and waits until it has. */
    void stop();

    /** Ends it without asking, as {@code kill -9} does. */
    void kill();

    /** Stops it from running, connections left open, until {@link #resume()}. */
    void pause();

    void resume();
}
