package io.github.reactivelock.vertx;

import io.github.reactivelock.redis.RedisListener;
import io.github.reactivelock.spi.support.DriverThreads;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.internal.ContextInternal;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.RedisConnection;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import io.vertx.redis.client.ResponseType;
import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * The channels with a listener, on one connection. After an interruption it subscribes to all of them again, for as
 * long as it takes. The server answers questions in their order, and a refusal does not say which question it answers,
 * so this class keeps the order. Only {@link #subscribe} and {@link #unsubscribe} may be called from any thread.
 */
final class Channels implements Link.User {

    private record Question(Command command, String channel) {}

    /** Where other clients hear it too, none heeds it. */
    private static final String ECHO = "echo";

    private record Echo(String channel, Promise<Void> heard) {
        boolean isHeard(Response message) {
            return message.get(1).toString().equals(channel)
                    && message.get(2).toString().equals(ECHO);
        }
    }

    private final ContextInternal context;
    private final Link link;
    private final RedisListener listener;
    private final BiFunction<String, String, @Nullable Future<?>> publish;
    private final Set<String> wanted = new LinkedHashSet<>();
    private final Queue<Question> asked = new ArrayDeque<>();
    private Echo awaited = new Echo("", Promise.promise());
    private int echoes;
    /** As {@link Link.User#silent}, and nothing came since. */
    private boolean silent;

    private @Nullable RedisConnection connection;
    private boolean closed;

    /** @param publish sends a message by another connection; returns null while there is none */
    Channels(
            ContextInternal context,
            Opener opener,
            RedisListener listener,
            BiFunction<String, String, @Nullable Future<?>> publish) {
        this.publish = publish;
        this.context = context;
        this.link = new Link(context, opener, Link.PATIENT, this);
        this.listener = listener;
    }

    void subscribe(String channel) {
        try {
            DriverThreads.run(() -> context.runOnContext(now -> subscribeNow(channel)));
        } catch (RejectedExecutionException e) {
            listener.failed(channel, new IllegalStateException("the Vertx of the lock backend is closed"));
        }
    }

    void unsubscribe(String channel) {
        try {
            DriverThreads.run(() -> context.runOnContext(now -> unsubscribeNow(channel)));
        } catch (RejectedExecutionException e) {
            // The event loop is gone, and the connection with it.
        }
    }

    /** Commands use another connection than before. */
    void replaced() {
        listener.replaced();
    }

    /** The connection for commands cannot be opened again for now. */
    void stillRefused(Throwable error) {
        listener.refused(error);
    }

    /** As {@link Commands#reopen}; on the link's event loop. */
    void reopen() {
        if (connection != null) {
            link.broken(connection);
        }
    }

    /** The server has no subscriber. */
    void deaf() {
        try {
            DriverThreads.run(() -> context.runOnContext(now -> reopen()));
        } catch (RejectedExecutionException e) {
            // The event loop is gone, and the connection with it.
        }
    }

    Future<Void> close() {
        closed = true;
        interrupted();
        wanted.clear();
        return link.close();
    }

    // ---- the link

    @Override
    public void opened(RedisConnection opened) {
        connection = opened;
        askForAll();
    }

    private void askForAll() {
        silent = false;
        wanted.forEach(channel -> ask(Command.SUBSCRIBE, channel));
    }

    @Override
    public void received(Response push) {
        if (push.type() == ResponseType.ERROR) {
            Question refused = asked.poll();
            if (refused != null && wanted.remove(refused.channel())) {
                listener.failed(refused.channel(), (Throwable) push);
            }
            return;
        }
        String kind = push.get(0).toString();
        if (kind.equals("message") && awaited.isHeard(push)) {
            awaited.heard().tryComplete();
            if (silent) {
                askForAll();
            }
        } else if (kind.equals("message")) {
            listener.message(push.get(1).toString(), push.get(2).toString());
        } else if (kind.equals("subscribe")) {
            asked.poll();
            listener.subscribed(push.get(1).toString());
        } else if (kind.equals("unsubscribe")) {
            asked.poll();
        }
    }

    @Override
    public @Nullable Future<?> echo() {
        if (wanted.isEmpty() || !asked.isEmpty()) { // what was asked is watched as well
            return null;
        }
        List<String> channels = List.copyOf(wanted);
        String channel = channels.get(echoes++ % channels.size());
        Future<?> sent = publish.apply(channel, ECHO);
        if (sent == null) {
            return null;
        }
        Promise<Void> heard = Promise.promise();
        awaited = new Echo(channel, heard);
        sent.onFailure(heard::tryFail); // not to be missed
        return heard.future();
    }

    /** Perhaps there is no other to be had, so until then it counts as gone. */
    @Override
    public void silent() {
        silent = true;
        listener.interrupted();
    }

    @Override
    public void interrupted() {
        connection = null;
        asked.clear();
        listener.interrupted();
    }

    /** The connection for commands tells why, and it is the same server. */
    @Override
    public void stillInterrupted(Throwable error) {}

    @Override
    public void refused(Throwable error) {
        List<String> refused = List.copyOf(wanted);
        wanted.clear();
        refused.forEach(channel -> listener.failed(channel, error));
    }

    // ---- the channels

    private void subscribeNow(String channel) {
        if (closed) {
            listener.failed(channel, Commands.closedError());
            return;
        }
        wanted.add(channel);
        if (connection == null) {
            link.want();
        } else {
            ask(Command.SUBSCRIBE, channel);
        }
    }

    private void unsubscribeNow(String channel) {
        if (awaited.channel().equals(channel)) {
            awaited.heard().tryComplete();
        }
        if (wanted.remove(channel) && connection != null) {
            ask(Command.UNSUBSCRIBE, channel);
        }
    }

    private void ask(Command command, String channel) {
        RedisConnection on = connection;
        if (on == null) {
            return;
        }
        asked.add(new Question(command, channel));
        link.send(on, Request.cmd(command).arg(channel)).onFailure(error -> link.broken(on));
    }
}
