package io.github.reactivelock.examples.flashsale;

import java.time.Duration;

/**
 * How a buyer fared. On the wire its parts stand in one line, with blanks between them.
 *
 * @param round which sale
 * @param buyer who, counted from 1
 * @param sold whether there was a ticket left
 * @param waited from asking for the lock to being under it; zero without a lock
 */
record Answer(Round round, int buyer, boolean sold, Duration waited) {

    static Answer parse(String line) {
        String[] part = line.split(" ", -1);
        return new Answer(
                Round.valueOf(part[0]),
                Integer.parseInt(part[1]),
                Boolean.parseBoolean(part[2]),
                Duration.ofNanos(Long.parseLong(part[3])));
    }

    String line() {
        return round + " " + buyer + " " + sold + " " + waited.toNanos();
    }
}
