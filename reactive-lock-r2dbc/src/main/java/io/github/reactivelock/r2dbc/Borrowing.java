package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.support.Carried;
import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.FireAndForget;
import io.github.reactivelock.spi.support.SilenceClock;
import io.r2dbc.spi.Connection;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * A connection that was asked for, between the pool and the command that wants it, or the driver and a pool of ours. A
 * pool of ours lets a command leave its queue, and what it opens is given up when it is late. Other factories are not
 * asked to stop, because a driver may lose a connection that it is opening then.
 *
 * <pre>
 * state    event
 * ASKED    the connection or an error comes -> GIVEN, and the command has it; the command is given up -> LEFT; its time
 *          is over -> LEFT, and the command has an error
 * GIVEN    final: the command gives the connection back, also if it was given up in that moment
 * LEFT     final: a connection that comes goes back at once
 * </pre>
 */
final class Borrowing implements CoreSubscriber<Connection>, Subscription {

    private static final Logger log = LoggerFactory.getLogger(Borrowing.class);

    private enum State {
        ASKED,
        GIVEN,
        LEFT
    }

    /** Whose it is: the queue of ours may be left. */
    enum Pool {
        OURS,
        FOREIGN
    }

    /**
     * How long a connection is waited for. An operator that gives up behind this one may drop a connection that comes
     * in that moment, and it would never be given back.
     *
     * @param time from when it is asked for
     * @param late says that none came
     */
    record Limit(Duration time, Supplier<Throwable> late) {}

    private final CoreSubscriber<? super Connection> command;
    private final Pool pool;
    private final @Nullable Limit limit;
    private final Runnable lent;
    private final Disposable.Swap timer = Disposables.swap();
    private final AtomicReference<State> state = new AtomicReference<>(State.ASKED);
    private volatile @Nullable Subscription asked;
    private volatile boolean hasAnswer;

    /** @param lent called when a connection came, before its command has it */
    private Borrowing(CoreSubscriber<? super Connection> command, Pool pool, @Nullable Limit limit, Runnable lent) {
        this.command = command;
        this.pool = pool;
        this.limit = limit;
        this.lent = lent;
    }

    static Mono<Connection> of(Mono<Connection> opened, Pool pool, @Nullable Limit limit, Runnable lent) {
        return Carried.operator(new Mono<>() {
            @Override
            public void subscribe(CoreSubscriber<? super Connection> command) {
                opened.subscribe(new Borrowing(command, pool, limit, lent));
            }
        });
    }

    private boolean becomes(State next) {
        boolean does = state.compareAndSet(State.ASKED, next);
        if (does) {
            timer.dispose();
        }
        return does;
    }

    @Override
    public Context currentContext() {
        return command.currentContext();
    }

    /** Comes twice where what was thrown while a driver was asked is reported. */
    @Override
    public void onSubscribe(Subscription subscription) {
        if (!Operators.validate(asked, subscription)) {
            return;
        }
        asked = subscription;
        command.onSubscribe(this);
        Limit most = limit;
        if (most != null) {
            timer.update(SilenceClock.ofThisProcess()
                    .after(most.time(), () -> DriverThreads.forUsers().schedule(() -> giveUp(most))));
        }
        subscription.request(Long.MAX_VALUE);
    }

    /**
     * The flow that gives a connection back hands it over, and a command of a flow that carries nothing would see that
     * flow's.
     */
    private void answered(Runnable answer) {
        hasAnswer = true;
        if (Carried.isTakenAlong()) {
            DriverThreads.forUsers().schedule(answer);
        } else {
            answer.run();
        }
    }

    @Override
    public void onNext(Connection connection) {
        lent.run();
        answered(() -> give(connection));
    }

    private void give(Connection connection) {
        if (becomes(State.GIVEN)) {
            command.onNext(connection);
            command.onComplete();
        } else {
            FireAndForget.run("giving a connection back", Database.giveBack(connection));
        }
    }

    @Override
    public void onError(Throwable error) {
        answered(() -> fail(error));
    }

    private void fail(Throwable error) {
        if (becomes(State.GIVEN)) {
            command.onError(error);
        } else {
            log.debug("a connection that is not wanted any more was not opened", error);
        }
    }

    /** Comes after each connection, so it makes no error before it is known that there was none. */
    @Override
    public void onComplete() {
        if (!hasAnswer) {
            onError(new IllegalStateException("the ConnectionFactory made no connection"));
        }
    }

    /** The connection is all that is wanted, and it is asked for at once. */
    @Override
    public void request(long count) {}

    private void giveUp(Limit over) {
        if (leaves()) {
            command.onError(over.late().get());
        }
    }

    @Override
    public void cancel() {
        leaves();
    }

    private boolean leaves() {
        boolean does = becomes(State.LEFT);
        Subscription opening = asked;
        if (does && pool == Pool.OURS && !hasAnswer && opening != null) {
            opening.cancel();
        }
        return does;
    }
}
