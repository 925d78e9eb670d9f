package io.github.reactivelock.examples.flashsale;

import java.util.stream.Stream;

/**
 * The names of keys in Redis.
 *
 * @param run tells this run from others on the same server
 */
record Names(String run) {

    /** The buyers that wait for one instance, a list. */
    String desk(String instance) {
        return run + ":desk:" + instance;
    }

    /** The answers of the instances to the door, a list. */
    String answers() {
        return run + ":answers";
    }

    /** The stock and the receipts of one round, a hash. */
    String sale(Round round) {
        return run + ":sale:" + round;
    }

    /** The key of the lock around a sale. */
    String lock(Round round) {
        return run + ":" + round;
    }

    /** All keys of the application itself. */
    String[] all(Stream<String> instances) {
        return Stream.concat(
                        Stream.of(answers(), sale(Round.UNLOCKED), sale(Round.LOCKED), sale(Round.KILLED)),
                        instances.map(this::desk))
                .toArray(String[]::new);
    }
}
