package io.github.reactivelock.examples.webflux.front;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The page at one moment.
 *
 * @param instances the shop's processes
 * @param lanes the items
 * @param news what happened last, the oldest first
 */
record View(List<Instance> instances, List<Lane> lanes, List<News> news) {

    /**
     * A process of the shop.
     *
     * @param name as the locks show it
     * @param status "starting", "running", "paused" or "ended"
     * @param address where it answers; empty unless it runs
     * @param waiting how many of its customers wait for a lock
     * @param holding how many have one
     * @param atRisk how many of those may soon lose it
     * @param lost how many lost theirs since it started
     * @param metrics what the starter has recorded, as its {@code Activity} has them
     */
    record Instance(
            String name,
            String status,
            String address,
            long waiting,
            long holding,
            long atRisk,
            long lost,
            Map<String, Double> metrics) {}

    /**
     * One item.
     *
     * @param item what is sold
     * @param holder the instance that holds its lock, as the store says; empty if it is free
     * @param token the fencing token of the store's last grant; empty before the first
     * @param atRisk whether the holder may soon lose it
     * @param sold how many were sold, as Redis says
     * @param moves how often the lock went from one instance to another
     * @param waiting who waits, in that order
     * @param served who had the lock, the latest first
     */
    record Lane(
            String item,
            String holder,
            String token,
            boolean atRisk,
            int sold,
            int moves,
            List<Waiting> waiting,
            List<Served> served) {}

    /**
     * A customer in the queue.
     *
     * @param instance where
     * @param number counted from 1 in that instance
     */
    record Waiting(String instance, int number) {}

    /**
     * A customer who has, or had, the lock.
     *
     * @param instance where
     * @param token of the hold, as a string because JavaScript's numbers are too small for it
     * @param end "holds", "at risk", "released", "lost" with the reason, or "killed"
     * @param after the instance that had the lock before; null if it was free
     * @param handOverMillis from the end of the work before to the beginning of this; null if it was free
     */
    record Served(
            String instance,
            String token,
            String end,
            @Nullable String after,
            @Nullable Double handOverMillis) {}

    /**
     * Something that happened.
     *
     * @param number counted from 1
     * @param text a sentence
     */
    record News(int number, String text) {}
}
