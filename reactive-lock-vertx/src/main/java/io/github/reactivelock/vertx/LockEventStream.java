package io.github.reactivelock.vertx;

import io.github.reactivelock.state.LockEvent;
import io.vertx.core.Handler;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.streams.ReadStream;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;

/**
 * A lock's events as a Vert.x stream. It requests one event at a time, so that a paused stream buffers nothing. Only
 * the stream's context touches its state.
 */
final class LockEventStream implements ReadStream<LockEvent> {

    private final ContextInternal context;
    private final Flux<LockEvent> events;
    private @Nullable Handler<LockEvent> handler;
    private @Nullable Handler<Throwable> exceptionHandler;
    private @Nullable Handler<Void> endHandler;
    private @Nullable Watch watch;
    private long demand = Long.MAX_VALUE;

    LockEventStream(ContextInternal context, Flux<LockEvent> events) {
        this.context = context;
        this.events = events;
    }

    @Override
    public ReadStream<LockEvent> handler(@Nullable Handler<LockEvent> next) {
        context.execute(() -> {
            handler = next;
            if (next == null && watch != null) {
                watch.cancel();
                watch = null;
            } else if (next != null && watch == null) {
                watch = new Watch();
                events.subscribe((CoreSubscriber<LockEvent>) watch);
            }
        });
        return this;
    }

    @Override
    public ReadStream<LockEvent> exceptionHandler(@Nullable Handler<Throwable> next) {
        context.execute(() -> exceptionHandler = next);
        return this;
    }

    @Override
    public ReadStream<LockEvent> endHandler(@Nullable Handler<Void> next) {
        context.execute(() -> endHandler = next);
        return this;
    }

    @Override
    public ReadStream<LockEvent> pause() {
        context.execute(() -> demand = 0);
        return this;
    }

    @Override
    public ReadStream<LockEvent> resume() {
        return fetch(Long.MAX_VALUE);
    }

    @Override
    public ReadStream<LockEvent> fetch(long amount) {
        context.execute(() -> {
            demand = demand + amount < 0 ? Long.MAX_VALUE : demand + amount;
            if (watch != null) {
                watch.ask();
            }
        });
        return this;
    }

    private final class Watch extends BaseSubscriber<LockEvent> {

        private boolean asked;
        private @Nullable LockEvent undelivered;

        /** Delivers and requests as far as there is demand. */
        void ask() {
            LockEvent event = undelivered;
            if (event != null && demand > 0) {
                deliver(event);
            }
            if (watch == this && upstream() != null && !asked && demand > 0) {
                asked = true;
                request(1);
            }
        }

        private void deliver(LockEvent event) {
            asked = false;
            undelivered = null;
            Handler<LockEvent> current = handler;
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
        protected void hookOnNext(LockEvent event) {
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
