package io.github.reactivelock.faults;

import io.github.reactivelock.testservers.RedisServer;
import java.time.Duration;
import java.util.List;

/** One Redis, for a client that a word names. */
final class RedisStore extends Store {

    final RedisServer server;
    private final String word;

    private RedisStore(String word, RedisServer server) {
        this.word = word;
        this.server = server;
    }

    static RedisStore lettuce(String... config) {
        return new RedisStore("", RedisServer.start(config));
    }

    /** On the oldest server that is supported. */
    static RedisStore oldest(String... config) {
        return new RedisStore("", RedisServer.startOldest(config));
    }

    static RedisStore vertx(String... config) {
        return new RedisStore("vertx:", RedisServer.start(config));
    }

    @Override
    List<Integer> ports() {
        return List.of(server.port());
    }

    @Override
    String address(List<Integer> ports) {
        return word + "redis://127.0.0.1:" + ports.get(0);
    }

    @Override
    void pause() {
        server.pause();
    }

    @Override
    void resume() {
        server.resume();
    }

    @Override
    void forget(String key) {
        server.command("DEL", "{reactivelock:" + key + "}");
    }

    @Override
    List<String> claims() {
        return Leftovers.keys(server, Duration.ZERO);
    }

    @Override
    void breakPushes(Way unused) {
        server.command("CLIENT", "KILL", "TYPE", "pubsub");
    }

    @Override
    void forgetPushes(Way waiter) {
        waiter.forget("SUBSCRIBE");
    }

    @Override
    boolean canTellAll(String key) {
        List<?> waiters = (List<?>) server.command("HVALS", "{reactivelock:" + key + "}:waiters");
        return waiters.stream()
                .map(waiter -> String.valueOf(waiter).split(" ", -1))
                .allMatch(words -> words[1].startsWith("0") && isHeard(words[2]));
    }

    private boolean isHeard(String channel) {
        return !List.of(channel, 0L).equals(server.command("PUBSUB", "NUMSUB", channel));
    }

    @Override
    public void close() {
        super.close();
        server.close();
    }
}
