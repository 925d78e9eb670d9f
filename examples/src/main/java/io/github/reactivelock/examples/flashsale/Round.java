package io.github.reactivelock.examples.flashsale;

/** One sale of the whole stock to all buyers. */
enum Round {
    UNLOCKED("1: without a lock"),
    LOCKED("2: with the lock"),
    KILLED("3: with the lock, one instance killed");

    private final String title;

    Round(String title) {
        this.title = title;
    }

    String title() {
        return title;
    }

    boolean isLocked() {
        return this != UNLOCKED;
    }
}
