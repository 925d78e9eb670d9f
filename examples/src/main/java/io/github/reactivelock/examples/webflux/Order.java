package io.github.reactivelock.examples.webflux;

/**
 * An order that waits for its item or has it.
 *
 * @param number counted from 1 over all tills
 * @param till where it was placed
 * @param item what it is for
 * @param askedAt when, by the JVM's monotonic clock
 */
record Order(int number, String till, String item, long askedAt) {

    /** The key of the lock under which orders for one item are handled. */
    static String key(String item) {
        return "item:" + item;
    }
}
