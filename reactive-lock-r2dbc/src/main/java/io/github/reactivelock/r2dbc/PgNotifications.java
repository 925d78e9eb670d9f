package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.support.DriverThreads;
import io.r2dbc.postgresql.api.PostgresqlConnection;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ValidationDepth;
import io.r2dbc.spi.Wrapped;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * PostgreSQL's notifications over a connection of their own, outside any pool, which is opened for the first listener and
 * closed with the last. A connection that breaks, or that does not answer any more, is replaced. A pooler that lends a
 * connection for one transaction takes LISTEN and delivers nothing; so it counts only when a notification, sent over
 * another connection, has arrived, and until then waiting claims are looked for.
 */
final class PgNotifications {

    private static final Duration FIRST_PAUSE = Duration.ofMillis(50);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);
    private static final Duration CHECK = Duration.ofSeconds(5);
    private static final Duration CANCELLING = Duration.ofMillis(250);
    private static final Duration SILENCE = Duration.ofSeconds(2);
    private static final String PROBE = "here";
    private static final Logger log = LoggerFactory.getLogger(PgNotifications.class);

    /** What arrived on a channel; an empty channel means that everything arrives from now on. */
    record Notice(String channel, String text) {
        boolean isConnected() {
            return channel.isEmpty();
        }
    }

    private final Database database;
    private final ConnectionFactory unpooled;
    private final List<String> channels;
    private final Flux<Notice> shared;
    private final AtomicBoolean warned = new AtomicBoolean();
    private volatile boolean arrive;

    /** @param interrupted called when what arrived until now arrives no more */
    PgNotifications(Database database, List<String> channels, Runnable interrupted) {
        this.database = database;
        this.unpooled = Surroundings.unpooled(database.factory);
        this.channels = channels;
        this.shared = Flux.usingWhen(
                        DriverThreads.subscribing(Mono.defer(() -> Mono.from(unpooled.create()))),
                        this::listen,
                        this::end,
                        (c, error) -> error instanceof HiddenPool ? Database.giveBack(c) : end(c),
                        this::end)
                .doFinally(signal -> {
                    boolean arrived = arrive;
                    arrive = false;
                    if (arrived) {
                        interrupted.run();
                    }
                })
                .retryWhen(Retry.backoff(Long.MAX_VALUE, FIRST_PAUSE)
                        .scheduler(DriverThreads.timer())
                        .maxBackoff(LONGEST_PAUSE)
                        .transientErrors(true)
                        .filter(error -> !database.isClosed() && !(error instanceof HiddenPool)))
                .onErrorResume(HiddenPool.class, hidden -> Flux.concat(Mono.fromSupplier(this::notAsked), Mono.never()))
                .share();
    }

    /** Whether what is sent arrives. */
    boolean arrive() {
        return arrive;
    }

    /** Notices from now on; the first says that they arrive, as does the first after every interruption. */
    Flux<Notice> arriving() {
        Mono<Notice> already = Mono.fromSupplier(() -> arrive).filter(is -> is).map(is -> new Notice("", ""));
        return Flux.merge(shared, already);
    }

    private Flux<Notice> listen(Connection connection) {
        if (Surroundings.isLent(connection)) {
            return Flux.error(new HiddenPool());
        }
        PostgresqlConnection own = unwrapped(connection);
        String command =
                channels.stream().map(channel -> "LISTEN \"" + channel + "\"").collect(Collectors.joining("; "));
        Mono<Notice> begun = own.createStatement(command)
                .execute()
                .concatMap(result -> result.getRowsUpdated())
                .then(database.run(
                        session -> session.alone(session.all("notify", row -> true, channels.get(0), PROBE))))
                .then(Mono.delay(SILENCE, DriverThreads.timer()))
                .filter(passed -> !arrive)
                .map(passed -> unheard());
        Flux<Notice> noticed = own.getNotifications()
                .map(notice -> heard(notice.getName(), String.valueOf(notice.getParameter())))
                .concatWith(broken());
        return Flux.merge(noticed, begun, checked(own));
    }

    private Notice heard(String channel, String text) {
        boolean isProbe = channel.equals(channels.get(0)) && text.equals(PROBE);
        arrive |= isProbe;
        return isProbe ? new Notice("", "") : new Notice(channel, text);
    }

    /** A connection that belongs to a pool, which a wrapper hides, is not kept: it may be the application's only one. */
    private static final class HiddenPool extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    private Notice notAsked() {
        if (warned.compareAndSet(false, true)) {
            log.warn(
                    "the pool of R2dbcLockBackend is inside a ConnectionFactory that does not show it, so notifications of"
                            + " PostgreSQL would keep one of its connections; they are left out, and a lock that is given to another"
                            + " process is noticed within 5 ms to a second. Let the wrapper implement Wrapped<ConnectionFactory>, or"
                            + " turn notifications off (R2dbcBackendOptions.withoutNotifications())");
        }
        return new Notice("", "");
    }

    /** Waiting claims ask again, since what they were told before may have been missed, and are looked for from now on. */
    private Notice unheard() {
        if (warned.compareAndSet(false, true)) {
            log.warn("notifications of PostgreSQL do not arrive, as behind a pooler that lends a connection for one"
                    + " transaction: a lock that is given to another process is noticed within 5 ms to a second. Give"
                    + " R2dbcLockBackend an address that leads to PostgreSQL itself, or turn them off"
                    + " (R2dbcBackendOptions.withoutNotifications())");
        }
        return new Notice("", "");
    }

    private static Flux<Notice> checked(PostgresqlConnection connection) {
        return Flux.interval(CHECK, DriverThreads.timer())
                .onBackpressureDrop()
                .concatMap(tick -> connection.validate(ValidationDepth.REMOTE).timeout(CHECK, DriverThreads.timer()), 1)
                .concatMap(alive -> alive ? Mono.<Notice>empty() : broken());
    }

    private static Mono<Notice> broken() {
        return Mono.error(() -> new IllegalStateException("the connection for notifications broke"));
    }

    /** Asks the server to end what a connection is doing; here, because the driver may be absent where it is not used. */
    static Mono<Void> cancel(Connection connection) {
        return Mono.defer(() -> unwrapped(connection).cancelRequest())
                .timeout(CANCELLING, DriverThreads.timer())
                .onErrorComplete();
    }

    /** Completes when the server or the network ends a connection; never where a wrapper does not show the driver's own. */
    static Mono<Void> ended(Connection connection) {
        return Mono.defer(() -> innermost(connection) instanceof PostgresqlConnection own
                ? own.getNotifications().then().onErrorComplete()
                : Mono.never());
    }

    private static Object innermost(Connection connection) {
        Object found = connection;
        while (!(found instanceof PostgresqlConnection) && found instanceof Wrapped<?> wrapped) {
            found = wrapped.unwrap();
        }
        return found;
    }

    private static PostgresqlConnection unwrapped(Connection connection) {
        if (innermost(connection) instanceof PostgresqlConnection own) {
            return own;
        }
        throw new IllegalStateException("notifications need a connection of r2dbc-postgresql but this is "
                + connection.getClass().getName());
    }

    private Mono<Void> end(Connection connection) {
        return database.discard(connection);
    }
}
