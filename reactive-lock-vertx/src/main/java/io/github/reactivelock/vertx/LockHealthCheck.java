package io.github.reactivelock.vertx;

import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.healthchecks.Status;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A procedure for {@code vertx-health-check}, which the application has to bring: up if the store answers a question
 * that changes nothing. Down it gives the reason, with the words of
 * {@link io.github.reactivelock.LockUnavailableException}. Where pushes do not arrive and grants are looked for, it is
 * up, and {@code notPushed} says why they do not.
 *
 * <pre>{@code
 * HealthChecks.create(vertx).register("locks", LockHealthCheck.of(lock));
 * }</pre>
 *
 * <p>The first check connects. One that lasts longer than the time given to {@code register}, a second by default, is
 * down.
 */
public final class LockHealthCheck implements Handler<Promise<Status>> {

    private final VertxLockClient lock;

    private LockHealthCheck(VertxLockClient lock) {
        this.lock = lock;
    }

    /**
     * A check of a client's store. May be called at any time, by any number of callers; it does not close the client.
     *
     * @param lock whose store is asked
     * @return the procedure
     */
    public static LockHealthCheck of(VertxLockClient lock) {
        return new LockHealthCheck(Objects.requireNonNull(lock, "lock"));
    }

    /**
     * Asks the store once.
     *
     * @param status completed with the answer, never failed
     */
    @Override
    public void handle(Promise<Status> status) {
        lock.ready()
                .onSuccess(ready -> status.tryComplete(up()))
                .onFailure(failure -> status.tryComplete(Status.KO(reason(failure))));
    }

    private Status up() {
        return lock.whyNotPushed()
                .map(why -> Status.OK(new JsonObject().put("notPushed", why)))
                .orElseGet(Status::OK);
    }

    private static JsonObject reason(Throwable failure) {
        @Nullable String words = failure.getMessage();
        return new JsonObject().put("reason", words == null ? failure.toString() : words);
    }
}
