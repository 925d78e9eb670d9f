package io.github.reactivelock.examples.flashsale;

import java.time.Duration;

/**
 * A buyer's result. On the wire its parts are one line, separated by blanks.
 *
 * @param round which sale
 * @param buyer the buyer's number, from 1
 * @param sold whether there was a ticket left
 * @param waited from the request for the lock to the grant; zero without a lock
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
