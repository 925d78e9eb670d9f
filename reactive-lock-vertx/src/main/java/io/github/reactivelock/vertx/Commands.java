package io.github.reactivelock.vertx;

import io.github.reactivelock.redis.RedisBatch;
import io.github.reactivelock.redis.RedisScript;
import io.github.reactivelock.spi.support.DriverThreads;
import io.vertx.core.Future;
import io.vertx.core.internal.ContextInternal;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.RedisConnection;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.MonoSink;

/**
 * Sends all script calls over one connection, in the order in which they came from any thread. Those that one turn of
 * the event loop finds waiting leave together, as one command for each slot ({@link RedisBatch}). When the connection
 * breaks, calls without an answer are sent again on the next one, in the same order and ahead of the rest: every verb
 * of the protocol is idempotent. Only {@link #add} may be called from any thread; the rest runs on the link's event
 * loop.
 */
final class Commands implements Link.User {

    // Commands pile up while there is no connection; those refused here would have been too late anyway.
    private static final int MOST_UNANSWERED = 200_000;
    private static final int MOST_IN_FLIGHT = 1_024;
    // As long as a first connection may take. Callers that give up before get to read what is said meanwhile.
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final ContextInternal context;
    private final Link link;
    private final int window;
    private final ToIntFunction<String> slots;
    private final Runnable demoted;
    private final Runnable replaced;
    private final Consumer<Throwable> refused;
    private final Consumer<RedisConnection> look;
    private final Queue<Evaluation> arrivals = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean awaited = new AtomicBoolean();
    private final AtomicInteger unanswered = new AtomicInteger();
    private final Deque<Evaluation> waiting = new ArrayDeque<>();
    private final Set<Call> sent = new LinkedHashSet<>();
    private final List<MonoSink<Void>> awaiting = new ArrayList<>();
    private volatile @Nullable RedisConnection connection;
    private volatile boolean openedBefore;
    private boolean closed;

    /**
     * Opens nothing yet.
     *
     * @param slots the part of the store that a key lives in
     * @param mostWaiting how many unanswered commands the client's connections hold at most
     * @param demoted called when the server says that it is a read-only replica
     * @param replaced called when there is another connection than before
     * @param refused called each time when none could be opened again
     * @param look called with each connection, and again while an answer of a cluster is late on it
     */
    Commands(
            ContextInternal context,
            Opener opener,
            ToIntFunction<String> slots,
            int mostWaiting,
            Runnable demoted,
            Runnable replaced,
            Consumer<Throwable> refused,
            Consumer<RedisConnection> look) {
        this.context = context;
        this.slots = slots;
        this.demoted = demoted;
        this.replaced = replaced;
        this.refused = refused;
        this.look = look;
        this.link = new Link(context, opener, PATIENCE, this);
        this.window = Math.max(1, Math.min(MOST_IN_FLIGHT, mostWaiting - 1));
    }

    void add(Evaluation evaluation) {
        if (unanswered.incrementAndGet() > MOST_UNANSWERED) {
            refuse(evaluation, new IllegalStateException(MOST_UNANSWERED + " commands wait for an answer already"));
            return;
        }
        arrivals.add(evaluation);
        if (awaited.compareAndSet(false, true)) {
            try {
                // Always queued, even on this event loop: a command must not overtake one queued by another thread.
                DriverThreads.run(() -> context.runOnContext(now -> arrived()));
            } catch (Throwable e) { // an Error too, or no command would ever leave again
                awaited.set(false);
                refuseArrivals(e instanceof RejectedExecutionException ? Link.vertxClosedError() : e);
            }
        }
    }

    boolean wasReady() {
        return openedBefore;
    }

    boolean isReady() {
        return connection != null;
    }

    /** Completes the sink when there is a connection, or fails it. */
    void awaitReady(MonoSink<Void> sink) {
        try {
            DriverThreads.run(() -> context.runOnContext(now -> {
                if (closed) {
                    sink.error(closedError());
                } else if (connection != null) {
                    sink.success();
                } else {
                    awaiting.add(sink);
                    link.want();
                }
            }));
        } catch (RejectedExecutionException e) {
            sink.error(Link.vertxClosedError());
        }
    }

    private void tellAwaiting(Consumer<MonoSink<Void>> news) {
        List<MonoSink<Void>> told = List.copyOf(awaiting);
        awaiting.clear();
        told.forEach(news);
    }

    /** Ends the connection so that another one is opened, which may lead to another server. */
    void reopen() {
        RedisConnection open = connection;
        if (open != null) {
            link.broken(open);
        }
    }

    /** Sends a message to a channel; null while there is no connection. On this event loop. */
    @Nullable
    Future<?> publish(String channel, String message) {
        RedisConnection open = connection;
        return open == null
                ? null
                : link.send(open, Request.cmd(Command.PUBLISH).arg(channel).arg(message));
    }

    Future<Void> close() {
        closed = true;
        interrupted();
        refuseAll(closedError());
        tellAwaiting(sink -> sink.error(closedError()));
        return link.close();
    }

    static IllegalStateException closedError() {
        return new IllegalStateException("the lock backend is closed");
    }

    // ---- the link

    @Override
    public void opened(RedisConnection opened) {
        connection = opened;
        // Ahead of the first use, so that a release can't overtake a claim that has to be sent twice.
        Request script =
                Request.cmd(Command.SCRIPT).arg("LOAD").arg(RedisScript.lock().body());
        link.send(opened, script).onFailure(error -> {
            if (Link.isInterruption(error)) {
                link.broken(opened);
            }
        });
        if (connection != opened) {
            return;
        }
        late(opened);
        send();
        if (openedBefore) {
            replaced.run();
        }
        openedBefore = true;
        tellAwaiting(MonoSink::success);
    }

    @Override
    public void received(Response push) {}

    @Override
    public void late(RedisConnection opened) {
        look.accept(opened);
    }

    @Override
    public void interrupted() {
        connection = null;
        List<Evaluation> again = new ArrayList<>();
        for (Call call : sent) {
            call.unsend();
            again.addAll(call.evaluations);
        }
        sent.clear();
        for (int i = again.size() - 1; i >= 0; i--) {
            waiting.addFirst(again.get(i));
        }
        if (!closed && !(waiting.isEmpty() && awaiting.isEmpty())) {
            link.want();
        }
    }

    @Override
    public void stillInterrupted(Throwable error) {
        refused.accept(error);
    }

    @Override
    public void refused(Throwable error) {
        refuseAll(error);
        tellAwaiting(sink -> sink.error(error));
    }

    // ---- the queue

    private void arrived() {
        awaited.set(false);
        if (closed) {
            refuseArrivals(closedError());
            return;
        }
        for (Evaluation next = arrivals.poll(); next != null; next = arrivals.poll()) {
            waiting.add(next);
        }
        link.want();
        send();
    }

    private void send() {
        RedisConnection open = connection;
        while (open != null && open == connection && sent.size() < window && !waiting.isEmpty()) {
            Call next = new Call(together());
            sent.add(next);
            send(next, open);
        }
    }

    /** The next that waits, with those directly behind it that can leave in the same command. */
    private List<Evaluation> together() {
        List<Evaluation> together = new ArrayList<>();
        do {
            together.add(waiting.remove());
        } while (!waiting.isEmpty() && waiting.element().joins(together, slots));
        return together;
    }

    private void send(Call call, RedisConnection on) {
        Future<Response> asked;
        try {
            asked = link.send(on, call.sendingOn(on));
        } catch (Throwable e) {
            asked = Future.failedFuture(e);
        }
        asked.onComplete((reply, error) -> {
            if (!call.isSentOn(on)) {
                return;
            }
            if (error == null) {
                done(call);
                if (call.answer(reply)) {
                    demoted.run();
                }
                send();
            } else if (Link.isInterruption(error)) {
                link.broken(on);
            } else if (call.needsBody(error)) {
                sent.remove(call);
                sent.add(call);
                send(call, on);
            } else {
                done(call);
                if (Call.isReadOnly(error)) {
                    demoted.run();
                }
                call.refuse(error);
                send();
            }
        });
    }

    private void done(Call call) {
        sent.remove(call);
        unanswered.addAndGet(-call.evaluations.size());
    }

    private void refuseAll(Throwable error) {
        for (Evaluation next = waiting.poll(); next != null; next = waiting.poll()) {
            refuse(next, error);
        }
    }

    private void refuseArrivals(Throwable error) {
        for (Evaluation next = arrivals.poll(); next != null; next = arrivals.poll()) {
            refuse(next, error);
        }
    }

    private void refuse(Evaluation evaluation, Throwable error) {
        unanswered.decrementAndGet();
        evaluation.refuse(error);
    }
}
