package io.github.reactivelock.vertx;

import io.github.reactivelock.HoldState;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.streams.ReadStream;
import java.time.Duration;

/** A handle of the engine, seen from a Vert.x context. */
record ContextLockHandle(ContextLockClient client, LockHandle held) implements VertxLockHandle {

    @Override
    public String key() {
        return held.key();
    }

    @Override
    public long fencingToken() {
        return held.fencingToken();
    }

    @Override
    public Duration remaining() {
        return held.remaining();
    }

    @Override
    public boolean isHeld() {
        return held.isHeld();
    }

    @Override
    public void onLost(Handler<LockLostException> handler) {
        client.future(held.lost()).onSuccess(loss -> {
            if (loss != null) {
                handler.handle(loss);
            }
        });
    }

    @Override
    public ReadStream<HoldState> states() {
        return client.stream(held.states());
    }

    @Override
    public Future<Void> renew() {
        return client.future(held.renew());
    }

    @Override
    public Future<Void> release() {
        return client.future(held.release());
    }

    @Override
    public String toString() {
        return held.toString();
    }
}
