package io.github.reactivelock.spring.boot;

import io.github.reactivelock.spi.support.StoreUrl;
import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * Where the client that the starter made keeps its locks.
 *
 * @param text for people, without secrets
 */
record StoreOfLocks(String text) {

    /** What of URLs tells where a store is: neither user nor password nor options. */
    static String hosts(String url) {
        return Arrays.stream(url.strip().split("[,\\s]+(?=[a-z0-9+-]+://)", -1))
                .map(StoreOfLocks::hostsOfOne)
                .collect(Collectors.joining(","));
    }

    private static String hostsOfOne(String url) {
        return StoreUrl.parse(url.contains("://") ? url : "store://" + url).hosts();
    }

    static String at(String store, String hosts) {
        return hosts.isEmpty() ? store : store + " at " + hosts;
    }
}
