package io.github.reactivelock.consul;

import io.netty.handler.codec.http.HttpMethod;

/**
 * A command of Consul's HTTP interface.
 *
 * @param method of HTTP
 * @param path below {@code /v1/}, with its parameters
 * @param body may be empty
 */
record Question(HttpMethod method, String path, String body) {

    static Question get(String path) {
        return new Question(HttpMethod.GET, path, "");
    }

    static Question put(String path, String body) {
        return new Question(HttpMethod.PUT, path, body);
    }

    static Question put(String path) {
        return put(path, "");
    }
}
