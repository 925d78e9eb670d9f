package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.support.FireAndForget;
import io.r2dbc.spi.Connection;
import java.util.concurrent.atomic.AtomicReference;
import org.reactivestreams.Subscription;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * A connection that was asked for, between the pool and the command that wants it. A pool of ours lets a command leave its
 * line. Other factories are not asked to stop, because a driver may lose a connection that it is opening then.
 *
 * <pre>
 * state    event
 * ASKED    the connection or an error comes -> GIVEN, and the command has it; the command is given up -> LEFT
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

    /** Whether the line may be left. */
    enum Line {
        OURS,
        FOREIGN
    }

    private final CoreSubscriber<? super Connection> command;
    private final Line line;
    private final AtomicReference<State> state = new AtomicReference<>(State.ASKED);
    private volatile Subscription asked = Operators.emptySubscription();

    Borrowing(CoreSubscriber<? super Connection> command, Line line) {
        this.command = command;
        this.line = line;
    }

    private boolean becomes(State next) {
        return state.compareAndSet(State.ASKED, next);
    }

    @Override
    public Context currentContext() {
        return command.currentContext();
    }

    @Override
    public void onSubscribe(Subscription subscription) {
        asked = subscription;
        command.onSubscribe(this);
        subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(Connection connection) {
        if (becomes(State.GIVEN)) {
            command.onNext(connection);
            command.onComplete();
        } else {
            var unused = FireAndForget.run("giving a connection back", Database.giveBack(connection));
        }
    }

    @Override
    public void onError(Throwable error) {
        if (becomes(State.GIVEN)) {
            command.onError(error);
        } else {
            log.debug("a connection that is not wanted any more was not opened", error);
        }
    }

    /** Comes after each connection, so it makes no error before it is known that there was none. */
    @Override
    public void onComplete() {
        if (state.get() == State.ASKED) {
            onError(new IllegalStateException("the ConnectionFactory made no connection"));
        }
    }

    /** The connection is all that is wanted, and it is asked for at once. */
    @Override
    public void request(long count) {}

    @Override
    public void cancel() {
        if (becomes(State.LEFT) && line == Line.OURS) {
            asked.cancel();
        }
    }
}
