package io.github.reactivelock.vertx;

import io.vertx.core.Handler;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.streams.ReadStream;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;

/**
 * What a lock or an election tells, as a Vert.x stream. It requests one event at a time, so that a paused stream
 * buffers nothing. Only the stream's context touches its state.
 */
final class ContextStream<E> implements ReadStream<E> {

    private final ContextInternal context;
    private final Flux<E> events;
    private @Nullable Handler<E> handler;
    private @Nullable Handler<Throwable> exceptionHandler;
    private @Nullable Handler<Void> endHandler;
    private @Nullable Watch watch;
    private long demand = Long.MAX_VALUE;

    ContextStream(ContextInternal context, Flux<E> events) {
        this.context = context;
        this.events = events;
    }

    @Override
    public ReadStream<E> handler(@Nullable Handler<E> next) {
        context.execute(() -> {
            handler = next;
            if (next == null && watch != null) {
                watch.cancel();
                watch = null;
            } else if (next != null && watch == null) {
                watch = new Watch();
                events.subscribe((CoreSubscriber<E>) watch);
            }
        });
        return this;
    }

    @Override
    public ReadStream<E> exceptionHandler(@Nullable Handler<Throwable> next) {
        context.execute(() -> exceptionHandler = next);
        return this;
    }

    @Override
    public ReadStream<E> endHandler(@Nullable Handler<Void> next) {
        context.execute(() -> endHandler = next);
        return this;
    }

    @Override
    public ReadStream<E> pause() {
        context.execute(() -> demand = 0);
        return this;
    }

    @Override
    public ReadStream<E> resume() {
        return fetch(Long.MAX_VALUE);
    }

    @Override
    public ReadStream<E> fetch(long amount) {
        context.execute(() -> {
            demand = demand + amount < 0 ? Long.MAX_VALUE : demand + amount;
            if (watch != null) {
                watch.ask();
            }
        });
        return this;
    }

    private final class Watch extends BaseSubscriber<E> {

        private boolean asked;
        private @Nullable E undelivered;

        /** Delivers and requests as far as there is demand. */
        void ask() {
            E event = undelivered;
            if (event != null && demand > 0) {
                deliver(event);
            }
            if (watch == this && upstream() != null && !asked && demand > 0) {
                asked = true;
                request(1);
            }
        }

        private void deliver(E event) {
            asked = false;
            undelivered = null;
            Handler<E> current = handler;
            if (watch == this && current != null) {
                demand = demand == Long.MAX_VALUE ? demand : demand - 1;
                context.dispatch(event, current);
            }
        }

        @Override
        protected void hookOnSubscribe(Subscription subscription) {
            context.execute(this::ask);
        }

        @Override
        protected void hookOnNext(E event) {
            context.execute(() -> {
                undelivered = event;
                ask();
            });
        }

        @Override
        protected void hookOnError(Throwable error) {
            context.execute(() -> ended(exceptionHandler, error));
        }

        @Override
        protected void hookOnComplete() {
            context.execute(() -> ended(endHandler, null));
        }

        private <T> void ended(@Nullable Handler<T> told, @Nullable T how) {
            if (watch == this) {
                watch = null;
                if (told != null) {
                    context.dispatch(how, told);
                }
            }
        }
    }
}
