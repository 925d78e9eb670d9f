package io.github.reactivelock.lettuce;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.api.StatefulConnection;
import java.net.SocketAddress;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import reactor.core.publisher.MonoSink;

/**
 * Whether a connection is open now. Lettuce keeps the object and replaces the channel below it. A cluster always counts
 * as connected, because its servers can differ.
 */
final class Presence implements RedisConnectionStateListener {

    private final Queue<MonoSink<Void>> awaiting = new ConcurrentLinkedQueue<>();
    private volatile boolean present;
    private volatile boolean wasPresent;
    private volatile Runnable replaced = () -> {};

    boolean wasPresent() {
        return wasPresent;
    }

    /**
     * It could not be opened again because of a refusal that lasts: those that wait are not to wait for the next try.
     */
    void refused(Throwable error) {
        for (MonoSink<Void> next = awaiting.poll(); next != null; next = awaiting.poll()) {
            next.error(error);
        }
    }

    boolean isPresent() {
        return present;
    }

    /**
     * The connection was opened for the first time.
     *
     * @param again called each time when another one has taken its place
     */
    void begin(StatefulConnection<?, ?> connection, Runnable again) {
        replaced = again;
        connection.addListener(this);
        arrived();
    }

    void await(MonoSink<Void> sink) {
        sink.onDispose(() -> awaiting.remove(sink));
        awaiting.add(sink);
        if (present) {
            tellAll();
        }
    }

    @Override
    public void onRedisConnected(RedisChannelHandler<?, ?> connection, SocketAddress server) {
        replaced.run();
        arrived();
    }

    @Override
    public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
        present = false;
    }

    @Override
    public void onRedisExceptionCaught(RedisChannelHandler<?, ?> connection, Throwable cause) {}

    private void arrived() {
        wasPresent = true;
        present = true;
        tellAll();
    }

    private void tellAll() {
        for (MonoSink<Void> next = awaiting.poll(); next != null; next = awaiting.poll()) {
            next.success();
        }
    }
}
