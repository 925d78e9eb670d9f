package io.github.reactivelock.vertx;

import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.RedisConnection;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Notices that a connection says nothing though something is unanswered: a NAT or a balancer that has forgotten a
 * connection never announces it. One that is idle is asked with a {@code PING}. Silence is counted in beats of the
 * event loop and not by a clock: a pause of this process, or of the event loop, is one late beat, and what came
 * meanwhile is read before the next one. Used on one event loop.
 *
 * <p>What the Vert.x client calls a connection to a cluster is one to each of its servers. There an answer says nothing
 * about the other servers, so each question counts its own beats, and a {@code PING}, which may go to any server, is
 * not sent. Where messages come, the user asks each second for an echo: one that it sends to itself by another
 * connection.
 */
final class SilenceWatch {

    static final long BEAT_MILLIS = 500;
    /** Beats with something unanswered; two seconds at least, because the first may come at once. */
    private static final int LONGEST_SILENCE = 5;

    private static final int LATE = 2;

    private static final class Question {
        int beats;
    }

    private final RedisConnection connection;
    private final boolean isCluster;
    private final Supplier<@Nullable Future<?>> echo;
    private final Set<Question> unanswered = new LinkedHashSet<>();
    private boolean heard;
    private boolean echoed;

    /** @param echo has a message sent and completes when it is heard; null if there is none to be had now */
    SilenceWatch(RedisConnection connection, boolean isCluster, Supplier<@Nullable Future<?>> echo) {
        this.echo = echo;
        this.connection = connection;
        this.isCluster = isCluster;
    }

    boolean isOf(RedisConnection other) {
        return connection == other;
    }

    /** Sends over the connection, which throws if it has ended; it may have before its end was listened for. */
    Future<Response> send(Request request) {
        Future<Response> asked;
        try {
            asked = connection.send(request);
        } catch (RuntimeException e) {
            return Future.failedFuture(e);
        }
        await(asked);
        return asked;
    }

    private void await(Future<?> answer) {
        Question question = new Question();
        unanswered.add(question);
        answer.onComplete(known -> {
            unanswered.remove(question);
            heard();
        });
    }

    void heard() {
        heard = true;
        if (!isCluster) {
            unanswered.forEach(question -> question.beats = 0);
        }
    }

    /**
     * To be called every {@link #BEAT_MILLIS}. True if the connection is to be left, and then not again for as long.
     */
    boolean isSilent() {
        boolean wasHeard = heard;
        heard = false;
        if (unanswered.isEmpty()) {
            ask(wasHeard);
            return false;
        }
        unanswered.forEach(question -> question.beats++);
        // In the order in which they were sent, so the first has waited for longest.
        boolean silent = unanswered.iterator().next().beats >= LONGEST_SILENCE;
        if (silent) {
            unanswered.forEach(question -> question.beats = 0);
        }
        return silent;
    }

    /** Whether something has been unanswered for half a second at least. */
    boolean isLate() {
        return !unanswered.isEmpty() && unanswered.iterator().next().beats >= LATE;
    }

    private void ask(boolean wasHeard) {
        if (!isCluster && !wasHeard) {
            send(Request.cmd(Command.PING));
        }
        echoed = isCluster && !echoed; // every other beat
        Future<?> message = echoed ? echo.get() : null;
        if (message != null) {
            await(message);
        }
    }

    /**
     * Keeps a pool of the application from lending this connection again: it closes one that may have another database.
     */
    void spoil() {
        send(Request.cmd(Command.SELECT).arg(0));
    }
}
