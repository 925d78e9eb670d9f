package io.github.reactivelock.examples;

import reactor.core.publisher.Mono;

/** A Redis that an example starts in order to kill it. It keeps nothing on disk. */
public final class RedisProcess {

    private volatile LocalServer server;

    private RedisProcess(LocalServer server) {
        this.server = server;
    }

    /**
     * Starts one on a free port of 127.0.0.1.
     *
     * @param settings further settings as on its command line
     * @return cold; the server, or {@link IllegalStateException} with a remedy if none starts
     */
    public static Mono<RedisProcess> start(String... settings) {
        return Mono.fromCallable(LocalServer::freePort)
                .flatMap(port -> BundledRedis.startAt(port, settings))
                .map(RedisProcess::new);
    }

    /**
     * Where it listens at 127.0.0.1.
     *
     * @return the port, the same after a restart
     */
    public int port() {
        return server.port();
    }

    /**
     * Its address.
     *
     * @return a {@code redis://} URI
     */
    public String uri() {
        return "redis://" + server.address();
    }

    /**
     * Ends it as {@code kill -9} does.
     *
     * @return cold; completes when it has ended
     */
    public Mono<Void> kill() {
        return Mono.defer(() -> server.crash());
    }

    /**
     * Starts it again on its port, empty.
     *
     * @return cold; completes when it answers
     */
    public Mono<Void> restartEmpty() {
        return Mono.defer(() -> server.stop())
                .then(Mono.defer(() -> BundledRedis.startAt(server.port())))
                .doOnNext(again -> server = again)
                .then();
    }

    /**
     * Ends it and deletes its files.
     *
     * @return cold; completes when nothing of it is left
     */
    public Mono<Void> stop() {
        return Mono.defer(() -> server.stop());
    }
}
