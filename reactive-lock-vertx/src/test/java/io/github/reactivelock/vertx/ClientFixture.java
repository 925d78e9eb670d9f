package io.github.reactivelock.vertx;

import static io.github.reactivelock.vertx.Fixture.get;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

/** One Redis for the tests of a class, and for each test a client and a context to call it from. */
abstract class ClientFixture {

    static Fixture fixture;
    VertxLockClient lock;
    Context context;

    @BeforeAll
    static void start() {
        fixture = new Fixture();
    }

    @AfterAll
    static void stop() {
        fixture.close();
    }

    @BeforeEach
    void client() {
        lock = fixture.client();
        context = fixture.vertx.getOrCreateContext();
    }

    @AfterEach
    void reset() {
        fixture.reset();
    }

    static VerticleBase verticle(Supplier<Future<?>> start) {
        return new VerticleBase() {
            @Override
            public Future<?> start() {
                return start.get();
            }
        };
    }

    static Future<Void> pause(int millis) {
        return Future.future(done -> Vertx.currentContext().owner().setTimer(millis, fired -> done.complete()));
    }

    @Fixture.CanIgnoreReturnValue
    final <T> T on(Supplier<Future<T>> question) {
        return on(context, question);
    }

    @Fixture.CanIgnoreReturnValue
    static <T> T on(Context where, Supplier<Future<T>> question) {
        Promise<T> answer = Promise.promise();
        where.runOnContext(now -> {
            try {
                question.get().onComplete(answer);
            } catch (Throwable e) {
                answer.fail(e);
            }
        });
        return get(answer.future());
    }
}
