package io.github.reactivelock.testkit;

import java.time.Duration;

/** Sleeping, for test threads that look again and again until a deadline. */
final class Pause {

    private Pause() {}

    static void of(Duration time) {
        try {
            Thread.sleep(time.toMillis(), time.toNanosPart() % 1_000_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
