package io.github.reactivelock.consul;

import io.github.reactivelock.spi.support.Departures.Rank;
import io.netty.handler.codec.http.HttpMethod;

/**
 * A command of Consul's HTTP interface.
 *
 * @param method of HTTP
 * @param path below {@code /v1/}, with its parameters
 * @param body may be empty
 * @param rank where it stands in line
 */
record Question(HttpMethod method, String path, String body, Rank rank) {

    static Question get(String path) {
        return new Question(HttpMethod.GET, path, "", Rank.LOOK);
    }

    static Question put(Rank rank, String path, String body) {
        return new Question(HttpMethod.PUT, path, body, rank);
    }

    static Question put(Rank rank, String path) {
        return put(rank, path, "");
    }
}
