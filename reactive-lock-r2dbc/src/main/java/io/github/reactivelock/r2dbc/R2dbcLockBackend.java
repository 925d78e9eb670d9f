package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.LockPage;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.FireAndForget;
import io.github.reactivelock.spi.support.FirstAnswer;
import io.github.reactivelock.spi.support.LateId;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.Share;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.pool.ConnectionPoolConfiguration;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactories;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryMetadata;
import io.r2dbc.spi.ConnectionFactoryOptions;
import io.r2dbc.spi.Option;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Locks in tables of PostgreSQL, MariaDB, MySQL or H2, over R2DBC.
 *
 * <ol>
 *   <li><b>Tables.</b> One row for each lock has the owner's claim, the fencing token and the end of the lease; claims
 *       that wait, and claims that share a lock, are rows of two others. {@link #createTables()} creates them, or
 *       Flyway or Liquibase with {@code V1__reactive_lock.sql} in {@code schema-postgresql}, {@code schema-mariadb} or
 *       {@code schema-h2}.
 *   <li><b>Clock.</b> Leases begin and end by the database's clock, in microseconds since 2020, read once the row is
 *       locked.
 *   <li><b>Claim.</b> One statement takes a lock that is free, joins the queue of one that is held, or finds out that
 *       it is held. Only if the owner's lease ended and others wait, or the lock is watched, a transaction locks the
 *       row first. A waiting claim that asks again keeps its own row alive and locks no other. Claims and releases of a
 *       share always are such a transaction.
 *   <li><b>Token.</b> {@code max(last + 1, the clock)}, so that rows can be removed when they are no longer used.
 *   <li><b>Release.</b> One statement ends the hold and makes the next live waiting claim the owner.
 *   <li><b>Waiting.</b> PostgreSQL notifies the client of the claim that was served, over a connection that its backend
 *       keeps for that. On MariaDB and MySQL a backend sleeps in a statement over one more connection while it waits
 *       or watches, and who serves its claim or changes the lock ends that statement. Where nothing is pushed, or does
 *       not arrive, a backend looks for all its waiting claims by one statement, a few milliseconds after something
 *       happened and then less often, once in a second at last. A claim of the same backend gets its grant at once.
 *   <li><b>Recalls.</b> The id of a claim that can be called back ends with a mark in the tables. Who waits behind
 *       such an owner notifies its client by one more statement, on MariaDB and MySQL by a note and a ring. H2 has no
 *       recalls.
 *   <li><b>Renewal.</b> One statement for all holds of the same lease. It passes over rows that another transaction has
 *       locked.
 *   <li><b>Cleaning.</b> Rows of locks that were free or expired for an hour are deleted in the background.
 * </ol>
 *
 * <p>Guarantees. <b>Mutual exclusion</b> holds as long as the database keeps what it committed: not across a fail-over
 * to a replica that lags behind. <b>Fencing tokens</b> rise strictly; back only if a row was removed <em>and</em> the
 * clock is behind. <b>Order</b> is that of arrival. Every command is one statement or one short transaction at READ
 * COMMITTED, also with another default, and takes one connection for that time; commands of one key follow one
 * another. In MySQL it is one text of several statements where the driver sends such texts. H2, and MySQL without
 * that, take a transaction where others take one round trip. A transaction that holds the row of a lock and does not
 * end costs that lock alone: statements wait for it for a part of {@link R2dbcBackendOptions#commandTimeout()} and
 * end at the server too.
 *
 * <p>A lock client asks on behalf of all its flows, so a {@code ConnectionFactory} that routes by the Reactor Context
 * sees that of none of them: make a client for each tenant.
 *
 * <p>Nothing is opened before the first use. Safe for use from any thread.
 */
public final class R2dbcLockBackend implements LockBackend {

    private static final Duration IDLE = Duration.ofMinutes(5);

    private final Database database;
    private final SignalSink pushes;
    private final WaitingClaims waits;
    private final TableLock locks;
    private final Renewal renewal;
    private final Events events;
    private final Observer looking;
    private final Cleaner cleaner;
    private final FirstAnswer firstAnswer = new FirstAnswer(() -> inspect(READY_KEY));

    /** The database, for people. */
    private final String place;

    private R2dbcLockBackend(Database database, String place) {
        this.place = place;
        this.database = database;
        this.pushes = new SignalSink(database, new LateId());
        this.waits = new WaitingClaims(database, pushes);
        pushes.listensFor(waits);
        this.locks = new TableLock(database, pushes, waits);
        this.renewal = new Renewal(database, new ShareRenewal(database, pushes));
        this.events = new Events(database, pushes);
        this.looking = new Observer(database);
        this.cleaner = new Cleaner(database);
    }

    /**
     * A backend with a connection pool of its own, closed with it.
     *
     * <p>MariaDB's statements are not prepared. Leave {@code useServerPrepStmts} off: the driver mixes up statements
     * after one that could not be prepared. To MySQL through that driver, {@code allowMultiQueries=true} in the URL
     * saves most round trips; it then holds for all statements over these connections.
     *
     * @param url such as {@code r2dbc:postgresql://user:password@host:5432/database}
     * @return a backend that has not connected yet
     * @throws IllegalArgumentException if the URL cannot be read; it is not repeated in the message
     */
    public static R2dbcLockBackend connect(String url) {
        return connect(url, R2dbcBackendOptions.defaults());
    }

    /**
     * A backend with a connection pool of its own, as {@link #connect(String)}.
     *
     * @param url such as {@code r2dbc:postgresql://user:password@host:5432/database}
     * @param options which tables and how many connections
     * @return a backend that has not connected yet
     * @throws IllegalArgumentException if the URL cannot be read; it is not repeated in the message
     */
    public static R2dbcLockBackend connect(String url, R2dbcBackendOptions options) {
        ConnectionFactoryOptions address;
        try {
            address = ConnectionFactoryOptions.parse(url);
        } catch (RuntimeException repeatsThePassword) {
            throw new IllegalArgumentException(
                    "this is not an address as r2dbc:driver://user:password@host:port/database;"
                            + " percent-encode what is special in user and password");
        }
        ConnectionFactory unpooled = opening(address);
        Sql sql = sql(unpooled, options);
        Object several = address.getValue(Option.valueOf("allowMultiQueries"));
        if (several != null && Boolean.parseBoolean(several.toString())) {
            sql.allowSeveral();
        }
        return connect(unpooled, place(address), options, sql);
    }

    private static Sql sql(ConnectionFactory unpooled, R2dbcBackendOptions options) {
        return new Sql(Dialect.of(unpooled), options.prefix(), options.commandTimeout());
    }

    /** Host, port and database; what is in this process or in a file has but the last. */
    private static String place(ConnectionFactoryOptions address) {
        Object host = address.getValue(ConnectionFactoryOptions.HOST);
        Object port = address.getValue(ConnectionFactoryOptions.PORT);
        Object database = address.getValue(ConnectionFactoryOptions.DATABASE);
        return (host == null ? "" : " at " + host + (port == null ? "" : ":" + port))
                + (database == null ? "" : ", database " + database);
    }

    static ConnectionFactory opening(ConnectionFactoryOptions address) {
        return DriverThreads.call(() -> ConnectionFactories.get(address));
    }

    /**
     * A backend with a connection pool of its own over connections made as given, closed with it.
     *
     * @param unpooled makes connections, each a new one
     * @param options which tables and how many connections
     * @return a backend that has not connected yet
     */
    public static R2dbcLockBackend connect(ConnectionFactory unpooled, R2dbcBackendOptions options) {
        return connect(unpooled, "", options, sql(unpooled, options));
    }

    private static R2dbcLockBackend connect(
            ConnectionFactory unpooled, String place, R2dbcBackendOptions options, Sql sql) {
        if (unpooled instanceof ConnectionPool) {
            throw new IllegalArgumentException("the ConnectionFactory is a pool already; give it to using(…)");
        }
        Duration opening = longer(options.commandTimeout(), Deadlines.OPENING);
        ConnectionPoolConfiguration pool = ConnectionPoolConfiguration.builder(new Guarded(unpooled, sql, opening))
                .initialSize(0)
                .maxSize(options.connections())
                .maxIdleTime(IDLE)
                .backgroundEvictionInterval(Duration.ZERO) // its timer would be one of the application's
                .customizer(each -> each.evictInBackground(IDLE, DriverThreads.mayBlock()))
                .allocatorSubscribeOn(sql.dialect == Dialect.H2 ? DriverThreads.mayBlock() : Schedulers.immediate())
                .build();
        return new R2dbcLockBackend(
                Database.owning(DriverThreads.call(() -> new ConnectionPool(pool)), options, sql),
                unpooled.getMetadata().getName() + place);
    }

    /**
     * A backend over a pool of the application, which is never closed here. A command takes one of its connections
     * for the time of a few statements. On PostgreSQL one more connection is opened beside the pool, for
     * notifications. Nothing has to be set on it: a question whose connection is reset is asked again over another
     * one.
     *
     * @param pool a pool, or a factory that makes a connection for every command
     * @return a backend that has not connected yet
     */
    public static R2dbcLockBackend using(ConnectionFactory pool) {
        return using(pool, R2dbcBackendOptions.defaults());
    }

    /**
     * A backend over a pool of the application, as {@link #using(ConnectionFactory)}.
     *
     * @param pool a pool, or a factory that makes a connection for every command
     * @param options which tables
     * @return a backend that has not connected yet
     */
    public static R2dbcLockBackend using(ConnectionFactory pool, R2dbcBackendOptions options) {
        return new R2dbcLockBackend(
                new Database(pool, options), pool.getMetadata().getName() + " over the user's pool");
    }

    /**
     * Creates the tables that do not exist yet. Cold; each subscription asks the database. Needs the right to create
     * tables, which nothing else here does.
     *
     * @return completes when all tables are there
     */
    public Mono<Void> createTables() {
        return Flux.fromIterable(database.sql.schema())
                .concatMap(statement -> database.runAgain(session -> session.alone(session.changed(statement))))
                .then()
                .onErrorStop();
    }

    /**
     * A guard that has the database refuse writes of earlier holders, in tables with the prefix of this backend.
     * Opens nothing; a process without locks makes one from a backend over its pool.
     *
     * @return a guard over the connections of this backend
     */
    public R2dbcFencingGuard fencingGuard() {
        return new R2dbcFencingGuard(database);
    }

    @Override
    public boolean isReady() {
        return firstAnswer.came();
    }

    @Override
    public Mono<Void> ready() {
        return firstAnswer.await();
    }

    @Override
    public Optional<String> whyNotPushed() {
        return pushes.whyNotPushed();
    }

    @Override
    public boolean supports(Share share) {
        return true;
    }

    /**
     * Not on H2, nor without notifications; and not on MySQL once it has shown that its driver sends no text of several
     * statements.
     */
    @Override
    public boolean supportsRecall() {
        return pushes.tells();
    }

    /** From when a notification or a ring of this client's own has arrived, until one does not. */
    @Override
    public boolean hearsRecalls() {
        return supportsRecall() && pushes.arrive();
    }

    @Override
    public Mono<Void> recall(String key) {
        return locks.recall(key);
    }

    @Override
    public Mono<ClaimResult> claim(Claim claim) {
        cleaner.begin();
        return locks.claim(Recalls.stored(claim));
    }

    @Override
    public boolean holdsBack(Claim claim) {
        return locks.holdsBack(Recalls.stored(claim));
    }

    @Override
    public Mono<RenewalResult> renew(List<Claim> held) {
        return held.stream().noneMatch(Claim::recallable)
                ? renewal.renew(held)
                : renewal.renew(held.stream().map(Recalls::stored).toList()).map(Recalls::told);
    }

    @Override
    public Mono<Boolean> release(Claim claim) {
        return locks.release(Recalls.stored(claim));
    }

    @Override
    public Mono<Boolean> keep(Claim held, Claim kept) {
        return locks.keep(Recalls.stored(held), Recalls.stored(kept));
    }

    @Override
    public Flux<Signal> signals() {
        return pushes.signals().doOnNext(waits::signalled).map(Recalls::told);
    }

    @Override
    public Mono<LockInfo> inspect(String key) {
        return looking.inspect(key);
    }

    /** By a write that changes nothing, which a database that is read only refuses. */
    @Override
    public Mono<Void> probe(String key) {
        return looking.probe(key);
    }

    @Override
    public Mono<Boolean> isCurrent(String key, long fencingToken) {
        return looking.isCurrent(key, fencingToken);
    }

    @Override
    public Mono<LockPage> list(String prefix, String from) {
        return looking.part(prefix, from);
    }

    @Override
    public Flux<LockEvent> events(String key) {
        return events.events(key);
    }

    @Override
    public Mono<Boolean> forceRelease(String key, long fencingToken) {
        return locks.forceRelease(key, fencingToken);
    }

    /** Stops looking for grants and cleaning, and closes its own pool, also when that is not waited for any more. */
    @Override
    public Mono<Void> close() {
        return Mono.defer(() -> {
            waits.clear();
            cleaner.stop();
            return Database.goingOn(
                    "closing the connections",
                    pushes.stop().then(Mono.<Void>fromRunnable(pushes::close)).then(database.close()));
        });
    }

    @Override
    public String toString() {
        return place + ", tables " + database.sql.prefix;
    }

    private static Duration longer(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? other : one;
    }

    /**
     * Opens connections so that no Error of the driver is lost inside the pool, and none is waited for without an end:
     * the pool would count that by a timer of the application's, also while this process gets no turn. Those of MySQL,
     * where no statement says how long it waits, get that limit once, because they are the backend's own. Servers of
     * PostgreSQL have to look whether this client is still there.
     */
    private record Guarded(ConnectionFactory driver, Sql sql, Duration opening) implements ConnectionFactory {
        @Override
        public Mono<Connection> create() {
            Mono<Connection> opened = DriverThreads.subscribing(
                    Mono.defer(() -> Mono.from(driver.create())).flatMap(this::told));
            Borrowing.Limit limit = new Borrowing.Limit(
                    opening, () -> new TimeoutException("no connection within " + opening.toMillis() + " ms"));
            return Borrowing.of(opened, Borrowing.Pool.OURS, limit, () -> {});
        }

        private Mono<Connection> told(Connection opened) {
            sql.learn(opened);
            SqlSession session = new SqlSession(opened, sql);
            if (sql.dialect == Dialect.POSTGRESQL) {
                return givenBackUnless(opened, watched(session).thenReturn(opened));
            }
            return sql.isMySql()
                    ? givenBackUnless(
                            opened,
                            session.change("bound")
                                    .doOnNext(done -> sql.boundWhenOpened())
                                    .thenReturn(new WithoutLifecycle(opened)))
                    : Mono.just(opened);
        }

        /** A server that refuses this is as good as one that is too old for it. */
        private static Mono<Boolean> watched(SqlSession session) {
            return session.alone(session.all("watched", row -> true))
                    .thenReturn(true)
                    .onErrorReturn(error -> !R2dbcFailure.isBroken(error), false);
        }

        private static Mono<Connection> givenBackUnless(Connection opened, Mono<Connection> told) {
            return told.doOnCancel(() -> FireAndForget.run("closing a connection", Database.giveBack(opened)))
                    .onErrorResume(
                            error -> Database.giveBack(opened).onErrorComplete().then(Mono.error(error)));
        }

        @Override
        public ConnectionFactoryMetadata getMetadata() {
            return driver.getMetadata();
        }
    }

    Mono<Void> clean(Duration kept) {
        return cleaner.clean(kept);
    }

    /** Whether other clients' news come by themselves. */
    boolean isPushed() {
        return pushes.arrive();
    }

    /** As the cleaner's timer begins it. */
    Mono<Void> cleaningTurn(Duration kept) {
        return cleaner.turn(kept);
    }
}
