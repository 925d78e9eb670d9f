package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.support.Carried;
import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.RandomId;
import io.github.reactivelock.spi.support.SilenceClock;
import io.r2dbc.postgresql.api.PostgresqlConnection;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ValidationDepth;
import io.r2dbc.spi.Wrapped;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.util.retry.Retry;

/**
 * PostgreSQL's notifications over a connection of their own, outside any pool, which is opened for the first listener
 * and closed with the last. A pooler that lends a connection for one transaction takes LISTEN and delivers nothing, and
 * after a switch-over it may lead to the old server for good. So it counts only as long as a notification, sent over
 * another connection, arrives: that is tried at first, every few seconds, and when a claim found a grant that it was
 * not told of. Meanwhile waiting claims are looked for, and the connection is opened anew.
 */
final class PgNotifications {

    private static final Duration FIRST_PAUSE = Duration.ofMillis(50);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);
    static final Duration CHECK = Duration.ofSeconds(5);
    /** Between two connections over which nothing arrives, or that are refused for good. */
    private static final Duration HOPELESS = Duration.ofSeconds(30);

    private static final Duration LONGEST_CANCELLING = Duration.ofSeconds(30);
    private static final Duration SILENCE = Duration.ofSeconds(2);
    private static final String PROBE = "here ";
    private static final Logger log = LoggerFactory.getLogger(PgNotifications.class);

    /** What arrived on a channel; an empty channel means that everything arrives from now on. */
    record Notice(String channel, String text) {
        boolean isConnected() {
            return channel.isEmpty();
        }
    }

    private final Database database;
    private final ConnectionFactory unpooled;
    /** The channel of this client, known when it is first used. */
    private final Supplier<String> channel;

    private final String watched;
    private final Flux<Notice> shared;
    private final AtomicBoolean warned = new AtomicBoolean();
    private final Sinks.Many<Boolean> doubts = Sinks.many().multicast().directBestEffort();
    private final Sinks.Many<String> probes = Sinks.many().multicast().directBestEffort();
    private final AtomicInteger failures = new AtomicInteger();
    private volatile boolean arrive;
    private volatile @Nullable String unheard;

    /** @param interrupted called when what arrived until now arrives no more */
    PgNotifications(Database database, Supplier<String> channel, String watched, Runnable interrupted) {
        this.database = database;
        this.unpooled = Wrappers.unpooled(database.factory);
        this.channel = channel;
        this.watched = watched;
        Flux<Notice> heard = Flux.usingWhen(
                        DriverThreads.subscribing(Mono.defer(() -> Mono.from(unpooled.create())))
                                .map(database::taken),
                        this::listen,
                        this::closed,
                        (c, error) -> error instanceof HiddenPool ? database.left(Database.giveBack(c)) : closed(c),
                        this::closed)
                .doFinally(signal -> {
                    boolean arrived = arrive;
                    arrive = false;
                    if (arrived) {
                        interrupted.run();
                    }
                })
                .retryWhen(Retry.from(failed ->
                        failed.concatMap(failure -> database.isClosed() || failure.failure() instanceof HiddenPool
                                ? Mono.<Long>error(failure.failure())
                                : Mono.delay(pauseAfter(failure.failure()), DriverThreads.timer()))))
                .onErrorResume(
                        HiddenPool.class, hidden -> Flux.concat(Mono.fromSupplier(this::notAsked), Mono.never()));
        // The flow that comes first may be a user's, and it goes on for the others.
        this.shared = Flux.defer(() -> Carried.byNobody(heard)).share();
    }

    private Duration pauseAfter(Throwable error) {
        Duration pause = FIRST_PAUSE.multipliedBy(1L << Math.min(10, failures.getAndIncrement()));
        return R2dbcFailure.lasts(error) ? HOPELESS : pause.compareTo(LONGEST_PAUSE) < 0 ? pause : LONGEST_PAUSE;
    }

    /** Something came to light that should have arrived. */
    void doubt() {
        doubts.tryEmitNext(true);
    }

    /** Whether what is sent arrives. */
    boolean arrive() {
        return arrive;
    }

    /** Why what is sent does not arrive, from when that is certain until something does. */
    @Nullable
    String whyUnheard() {
        return unheard;
    }

    /** Notices from now on; the first says that they arrive, as does the first after every interruption. */
    Flux<Notice> arriving() {
        Mono<Notice> already = Mono.fromSupplier(() -> arrive).filter(is -> is).map(is -> new Notice("", ""));
        return Flux.merge(shared, already);
    }

    private Flux<Notice> listen(Connection connection) {
        if (Wrappers.isLent(connection)) {
            return Flux.error(new HiddenPool());
        }
        PostgresqlConnection own = unwrapped(connection);
        String command = "LISTEN \"" + channel.get() + "\"; LISTEN \"" + watched + "\"";
        AtomicBoolean inVain = new AtomicBoolean();
        Flux<Notice> proved = own.createStatement(command)
                .execute()
                .concatMap(result -> result.getRowsUpdated())
                .thenMany(Flux.concat(
                        proof(own, inVain),
                        Mono.defer(() -> nextCheck().then(proof(own, inVain))).repeat()));
        Flux<Notice> noticed = own.getNotifications()
                .mapNotNull(notice -> heard(notice.getName(), String.valueOf(notice.getParameter())))
                .concatWith(broken());
        return Flux.merge(noticed, proved);
    }

    private Mono<?> nextCheck() {
        return Mono.delay(arrive ? CHECK : HOPELESS, DriverThreads.timer())
                .or(doubts.asFlux().next().map(doubt -> 0L));
    }

    /** Sends something over another connection, which is not its fault if it does not get as far as the database. */
    private Mono<Notice> proof(PostgresqlConnection own, AtomicBoolean inVain) {
        return Mono.defer(() -> {
            String probe = PROBE + RandomId.next();
            Mono<Boolean> came = probes.asFlux().filter(probe::equals).next().map(text -> true);
            Mono<Boolean> silent = database.run(
                            session -> session.alone(session.all("notify", row -> true, channel.get(), probe)))
                    .then(SilenceClock.ofThisProcess().silence(SILENCE))
                    .thenReturn(false)
                    .onErrorResume(error -> arrive ? Mono.just(true) : Mono.error(error));
            return Mono.firstWithSignal(came, silent).flatMap(holds -> holds ? validated(own) : unproved(inVain));
        });
    }

    private static Mono<Boolean> within(Mono<Boolean> answer) {
        return SilenceClock.ofThisProcess().timeout(answer, SILENCE, Mono.just(false));
    }

    private static Mono<Notice> validated(PostgresqlConnection own) {
        return within(own.validate(ValidationDepth.REMOTE)).flatMap(alive -> alive ? Mono.<Notice>empty() : broken());
    }

    /** Nothing came: a connection over which something did is left at once, and another one when it was tried twice. */
    private Mono<Notice> unproved(AtomicBoolean inVain) {
        return arrive || inVain.getAndSet(true) ? broken() : Mono.fromSupplier(this::unheard);
    }

    private @Nullable Notice heard(String channel, String text) {
        if (!channel.equals(this.channel.get()) || !text.startsWith(PROBE)) {
            return new Notice(channel, text);
        }
        boolean arrived = arrive;
        arrive = true;
        unheard = null;
        failures.set(0);
        probes.tryEmitNext(text);
        return arrived ? null : new Notice("", "");
    }

    /**
     * A connection that belongs to a pool, which a wrapper hides, is not kept: it may be the application's only one.
     */
    private static final class HiddenPool extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    private Notice notAsked() {
        unheard = "the pool is inside a ConnectionFactory that does not show it";
        if (warned.compareAndSet(false, true)) {
            log.warn(
                    "the pool of R2dbcLockBackend is inside a ConnectionFactory that does not show it, so notifications of"
                            + " PostgreSQL would keep one of its connections; they are left out, and a lock that is given to another"
                            + " process is noticed within 5 ms to a second. Let the wrapper implement Wrapped<ConnectionFactory>, or"
                            + " turn notifications off (R2dbcBackendOptions.withoutNotifications())");
        }
        return new Notice("", "");
    }

    /** Waiting claims ask again, since earlier notifications may have been missed, and are looked for from now on. */
    private Notice unheard() {
        unheard = "notifications of PostgreSQL do not arrive, as behind a pooler";
        if (warned.compareAndSet(false, true)) {
            log.warn("notifications of PostgreSQL do not arrive, as behind a pooler that lends a connection for one"
                    + " transaction: a lock that is given to another process is noticed within 5 ms to a second. Give"
                    + " R2dbcLockBackend an address that leads to PostgreSQL itself, or turn them off"
                    + " (R2dbcBackendOptions.withoutNotifications())");
        }
        return new Notice("", "");
    }

    private static Mono<Notice> broken() {
        return Mono.error(() -> new IllegalStateException("the connection for notifications broke"));
    }

    /**
     * Asks the server to end what a connection is doing, over a connection of its own, which takes its time where many
     * do so at once. Here, because the driver may be absent where it is not used.
     */
    static Mono<Void> cancel(Connection connection) {
        return Mono.defer(() -> unwrapped(connection).cancelRequest())
                .as(cancelled -> SilenceClock.ofThisProcess().timeout(cancelled, LONGEST_CANCELLING, Mono.empty()))
                .onErrorComplete();
    }

    /**
     * Completes when the server or the network ends a connection; never where a wrapper does not show the driver's own.
     */
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

    private Mono<Void> closed(Connection connection) {
        return database.left(database.discard(connection));
    }
}
