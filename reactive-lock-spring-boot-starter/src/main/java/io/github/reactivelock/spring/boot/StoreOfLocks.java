package io.github.reactivelock.spring.boot;

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
        return Arrays.stream(url.split("[,\\s]+(?=[a-z0-9+-]+://)", -1))
                .map(StoreOfLocks::hostsOfOne)
                .collect(Collectors.joining(","));
    }

    private static String hostsOfOne(String url) {
        String behindScheme = url.replaceFirst("^[a-z0-9:+-]*://", "");
        String authority = behindScheme.split("[/?#]", 2)[0];
        int login = authority.lastIndexOf('@');
        // A sign that ends a host may be part of a password: then nothing of it is shown.
        return login < 0 && behindScheme.indexOf('@') >= 0 ? "" : authority.substring(login + 1);
    }

    static String at(String store, String hosts) {
        return hosts.isEmpty() ? store : store + " at " + hosts;
    }
}
