package io.github.reactivelock.testservers;

/** A server that runs for a test, as a process of its own or in a container. */
interface Running {

    boolean isAlive();

    /** Asks it to end, and waits for the end. */
    void stop();

    /** Ends it without asking, as {@code kill -9} does. */
    void kill();

    /** SilenceClock it, with its connections open, until {@link #resume()}. */
    void pause();

    void resume();
}
