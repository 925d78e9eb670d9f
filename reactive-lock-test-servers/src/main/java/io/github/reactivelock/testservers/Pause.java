package io.github.reactivelock.testservers;

import java.time.Duration;
import java.util.function.BooleanSupplier;

/** Sleeps, for test threads that poll until a deadline. */
final class Pause {

    /** Far more than a working server takes, even on a busy machine. */
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private Pause() {}

    static void of(Duration time) {
        try {
            Thread.sleep(time.toMillis(), time.toNanosPart() % 1_000_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    static void until(String what, BooleanSupplier isSo) {
        long deadline = System.nanoTime() + LIMIT.toNanos();
        while (!isSo.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("not so within " + LIMIT + ": " + what);
            }
            of(Duration.ofMillis(2));
        }
    }
}
