package io.github.reactivelock.examples.threads;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import java.util.concurrent.atomic.AtomicInteger;

/** How many tickets were sold: a number in Redis that is read, and written later, by calls that block. */
final class Tickets implements AutoCloseable {

    private static final String KEY = "virtual-threads:sold";

    private final RedisClient client;
    private final StatefulRedisConnection<String, String> connection;
    private final AtomicInteger selling = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();

    private Tickets(RedisClient client) {
        this.client = client;
        this.connection = client.connect();
    }

    static Tickets connect(String uri) {
        return new Tickets(RedisClient.create(uri));
    }

    private RedisCommands<String, String> redis() {
        return connection.sync();
    }

    void begin() {
        redis().set(KEY, "0");
        most.set(0);
    }

    /** Two of these at once sell one ticket. */
    void sell() {
        most.accumulateAndGet(selling.incrementAndGet(), Math::max);
        redis().set(KEY, Integer.toString(sold() + 1));
        selling.decrementAndGet();
    }

    int sold() {
        return Integer.parseInt(redis().get(KEY));
    }

    int mostAtOnce() {
        return most.get();
    }

    @Override
    public void close() {
        redis().del(KEY);
        client.shutdown();
    }
}
