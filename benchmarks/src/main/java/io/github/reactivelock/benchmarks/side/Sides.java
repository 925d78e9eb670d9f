package io.github.reactivelock.benchmarks.side;

import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClientBuilder;
import io.github.reactivelock.LockOptions;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import reactor.core.scheduler.Schedulers;

/** The contenders by name; all of them at the defaults of their libraries, unless their name says otherwise. */
public final class Sides {

    /** For how long a process may pass a lock on among its own flows, by default. */
    public static final Duration BUDGET = Duration.ofMillis(50);

    public static final String OURS = "ours";
    public static final String OURS_FIFO = "ours-fifo";
    /** With other budgets: the given number of passes at most. */
    public static final String OURS_100 = "ours-100-passes";

    public static final String OURS_300 = "ours-300-passes";
    public static final String OURS_4000 = "ours-4000-passes";
    /** With a millisecond of work under the lock, so that the budget of time is spent before the one of passes. */
    public static final String BUSY = "busy";

    public static final String BUSY_10 = "busy-10-ms";
    public static final String BUSY_200 = "busy-200-ms";
    public static final String OURS_FIFO_IMMEDIATE = "ours-fifo-immediate";
    /** Without the hop to the work scheduler. */
    public static final String OURS_IMMEDIATE = "ours-immediate";

    /** The outcome does not wait for the answer to the release. */
    public static final String OURS_BACKGROUND = "ours-background";

    /** A client that keeps its lock for its next flow. */
    public static final String OURS_RETAINED = "ours-retained";

    public static final String OURS_RETAINED_IMMEDIATE = "ours-retained-immediate";
    public static final String OURS_ETCD_RETAINED = "ours-etcd-retained";
    public static final String OURS_SQL_RETAINED = "ours-sql-retained";
    /** Two clients of one process that take turns, with and without a retention. */
    public static final String TURNS_RETAINED = "turns-retained";

    public static final String TURNS_PLAIN = "turns-plain";
    public static final String OURS_FIFO_BACKGROUND = "ours-fifo-background";
    public static final String OURS_VERTX = "ours-vertx";
    public static final String RAW_VERTX = "raw-vertx";
    public static final String OURS_QUORUM = "ours-quorum";
    public static final String RED_LOCK = "redisson-redlock";
    public static final String MAJORITY_PING = "2-x-ping-majority";
    public static final String PING = "2-x-ping";
    public static final String RAW_REACTIVE = "raw-reactive";
    /** With the hop that keeps the holder off Lettuce's thread. */
    public static final String RAW_REACTIVE_HOP = "raw-reactive-hop";

    public static final String RAW_ASYNC = "raw-async";
    public static final String SET_REACTIVE = "set-delete-reactive";
    public static final String SET_ASYNC = "set-delete-async";
    public static final String REDISSON_REACTIVE = "redisson-reactive";
    public static final String REDISSON_ASYNC = "redisson-async";
    public static final String REDISSON_FAIR = "redisson-fair";
    public static final String REDISSON_FENCED = "redisson-fenced";
    public static final String SPRING = "spring-blocking";

    public static final String OURS_SHARED = "ours-shared";
    public static final String OURS_MIXED = "ours-mixed";
    public static final String OURS_PERMITS = "ours-permits";
    public static final String REDISSON_READ = "redisson-read";
    public static final String REDISSON_READ_WRITE = "redisson-read-write";
    public static final String REDISSON_SEMAPHORE = "redisson-semaphore";
    public static final String REDISSON_EXPIRABLE = "redisson-expirable";
    public static final String OURS_ZOOKEEPER_PERMITS = "ours-zookeeper-permits";
    public static final String CURATOR_SEMAPHORE = "curator-semaphore-blocking";

    public static final String OURS_ETCD = "ours-etcd";
    public static final String OURS_ETCD_FIFO = "ours-etcd-fifo";
    public static final String OURS_ETCD_IMMEDIATE = "ours-etcd-immediate";
    public static final String JETCD = "jetcd-lock";

    public static final String OURS_ZOOKEEPER = "ours-zookeeper";
    public static final String OURS_ZOOKEEPER_FIFO = "ours-zookeeper-fifo";
    public static final String CURATOR = "curator-blocking";

    public static final String OURS_CONSUL = "ours-consul";
    public static final String OURS_CONSUL_FIFO = "ours-consul-fifo";
    public static final String OURS_CONSUL_IMMEDIATE = "ours-consul-immediate";
    public static final String PLAIN_CONSUL = "plain-consul";

    public static final String OURS_SQL = "ours-sql";
    public static final String OURS_SQL_FIFO = "ours-sql-fifo";
    public static final String OURS_SQL_IMMEDIATE = "ours-sql-immediate";
    /** With work under the lock, for which the next in the queue waits. */
    public static final String BUSY_SQL_200 = "busy-sql-200-ms";

    public static final String BUSY_SQL_2000 = "busy-sql-2000-ms";
    public static final String SQL_PING = "2-x-select";
    public static final String SPRING_JDBC = "spring-jdbc-blocking";
    public static final String SHED_LOCK = "shedlock-polling";

    private static final LockOptions RETAINED = LockOptions.defaults().withRetention(Duration.ofSeconds(10));

    private static final Map<String, Function<String, Side>> OPENERS = new TreeMap<>(Map.ofEntries(
            Map.entry(OURS, uri -> OurSide.redis(uri, ours -> ours)),
            Map.entry(OURS_FIFO, uri -> OurSide.redis(uri, Sides::inOrder)),
            Map.entry(
                    OURS_FIFO_IMMEDIATE,
                    uri -> OurSide.redis(uri, ours -> inOrder(ours).workScheduler(Schedulers.immediate()))),
            Map.entry(OURS_IMMEDIATE, uri -> OurSide.redis(uri, ours -> ours.workScheduler(Schedulers.immediate()))),
            Map.entry(OURS_BACKGROUND, uri -> inBackground(uri, Fairness.COHORT)),
            Map.entry(OURS_FIFO_BACKGROUND, uri -> inBackground(uri, Fairness.FIFO)),
            Map.entry(OURS_RETAINED, uri -> OurSide.redis(uri, ours -> ours.options(RETAINED))),
            Map.entry(
                    OURS_RETAINED_IMMEDIATE,
                    uri -> OurSide.redis(uri, ours -> ours.options(RETAINED).workScheduler(Schedulers.immediate()))),
            Map.entry(TURNS_RETAINED, uri -> new TurnsSide(uri, RETAINED)),
            Map.entry(TURNS_PLAIN, uri -> new TurnsSide(uri, LockOptions.defaults())),
            Map.entry(OURS_VERTX, OurSide::vertx),
            Map.entry(RAW_VERTX, RawVertxSide::new),
            Map.entry(OURS_QUORUM, OurSide::quorum),
            Map.entry(RED_LOCK, RedLockSide::new),
            Map.entry(MAJORITY_PING, MajorityPingSide::new),
            Map.entry(OURS_100, uri -> OurSide.redis(uri, ours -> ours.passBudget(100, BUDGET))),
            Map.entry(OURS_300, uri -> OurSide.redis(uri, ours -> ours.passBudget(300, BUDGET))),
            Map.entry(OURS_4000, uri -> OurSide.redis(uri, ours -> ours.passBudget(4_000, BUDGET))),
            Map.entry(BUSY, uri -> OurSide.busy(uri, BUDGET)),
            Map.entry(BUSY_10, uri -> OurSide.busy(uri, Duration.ofMillis(10))),
            Map.entry(BUSY_200, uri -> OurSide.busy(uri, Duration.ofMillis(200))),
            Map.entry(OURS_ETCD, uri -> OurSide.etcd(uri, ours -> ours)),
            Map.entry(OURS_ETCD_FIFO, uri -> OurSide.etcd(uri, Sides::inOrder)),
            Map.entry(
                    OURS_ETCD_IMMEDIATE, uri -> OurSide.etcd(uri, ours -> ours.workScheduler(Schedulers.immediate()))),
            Map.entry(OURS_ETCD_RETAINED, uri -> OurSide.etcd(uri, ours -> ours.options(RETAINED))),
            Map.entry(OURS_SQL_RETAINED, uri -> OurSide.sql(uri, ours -> ours.options(RETAINED))),
            Map.entry(OURS_ZOOKEEPER, uri -> OurSide.zooKeeper(uri, ours -> ours)),
            Map.entry(OURS_ZOOKEEPER_FIFO, uri -> OurSide.zooKeeper(uri, Sides::inOrder)),
            Map.entry(CURATOR, CuratorSide::new),
            Map.entry(OURS_CONSUL, uri -> OurSide.consul(uri, ours -> ours)),
            Map.entry(OURS_CONSUL_FIFO, uri -> OurSide.consul(uri, Sides::inOrder)),
            Map.entry(
                    OURS_CONSUL_IMMEDIATE,
                    uri -> OurSide.consul(uri, ours -> ours.workScheduler(Schedulers.immediate()))),
            Map.entry(PLAIN_CONSUL, ConsulSide::new),
            Map.entry(OURS_SQL, uri -> OurSide.sql(uri, ours -> ours)),
            Map.entry(OURS_SQL_FIFO, uri -> OurSide.sql(uri, Sides::inOrder)),
            Map.entry(OURS_SQL_IMMEDIATE, uri -> OurSide.sql(uri, ours -> ours.workScheduler(Schedulers.immediate()))),
            Map.entry(BUSY_SQL_200, uri -> OurSide.sql(uri, Duration.ofMillis(200))),
            Map.entry(BUSY_SQL_2000, uri -> OurSide.sql(uri, Duration.ofMillis(2_000))),
            Map.entry(SQL_PING, SqlPingSide::new),
            Map.entry(SPRING_JDBC, SpringJdbcSide::new),
            Map.entry(SHED_LOCK, ShedLockSide::new),
            Map.entry(OURS_SHARED, uri -> OurSharesSide.redis(uri, OurSharesSide.Kind.READ)),
            Map.entry(OURS_MIXED, uri -> OurSharesSide.redis(uri, OurSharesSide.Kind.READ_WRITE)),
            Map.entry(OURS_PERMITS, uri -> OurSharesSide.redis(uri, OurSharesSide.Kind.PERMIT)),
            Map.entry(OURS_ZOOKEEPER_PERMITS, uri -> OurSharesSide.zooKeeper(uri, OurSharesSide.Kind.PERMIT)),
            Map.entry(REDISSON_READ, uri -> new RedissonSharesSide(uri, RedissonSharesSide.Kind.READ)),
            Map.entry(REDISSON_READ_WRITE, uri -> new RedissonSharesSide(uri, RedissonSharesSide.Kind.READ_WRITE)),
            Map.entry(REDISSON_SEMAPHORE, uri -> new RedissonSharesSide(uri, RedissonSharesSide.Kind.SEMAPHORE)),
            Map.entry(REDISSON_EXPIRABLE, uri -> new RedissonSharesSide(uri, RedissonSharesSide.Kind.EXPIRABLE)),
            Map.entry(CURATOR_SEMAPHORE, CuratorSemaphoreSide::new),
            Map.entry(JETCD, JetcdSide::new),
            Map.entry(PING, PingSide::new),
            Map.entry(RAW_REACTIVE, uri -> new RawReactiveSide(uri, RawLock.FENCED, Schedulers.immediate())),
            Map.entry(RAW_REACTIVE_HOP, uri -> new RawReactiveSide(uri, RawLock.FENCED, Schedulers.parallel())),
            Map.entry(RAW_ASYNC, uri -> new RawAsyncSide(uri, RawLock.FENCED)),
            Map.entry(SET_REACTIVE, uri -> new RawReactiveSide(uri, RawLock.SET, Schedulers.immediate())),
            Map.entry(SET_ASYNC, uri -> new RawAsyncSide(uri, RawLock.SET)),
            Map.entry(REDISSON_REACTIVE, RedissonReactiveSide::new),
            Map.entry(REDISSON_ASYNC, uri -> new RedissonAsyncSide(uri, RedissonAsyncSide.Kind.PLAIN)),
            Map.entry(REDISSON_FAIR, uri -> new RedissonAsyncSide(uri, RedissonAsyncSide.Kind.FAIR)),
            Map.entry(REDISSON_FENCED, uri -> new RedissonAsyncSide(uri, RedissonAsyncSide.Kind.FENCED)),
            Map.entry(SPRING, SpringSide::new)));

    private Sides() {}

    private static LockClientBuilder inOrder(LockClientBuilder ours) {
        return ours.options(LockOptions.defaults().withFairness(Fairness.FIFO));
    }

    private static Side inBackground(String uri, Fairness fairness) {
        LockOptions options = LockOptions.defaults().withFairness(fairness).withReleaseInBackground();
        return OurSide.redis(uri, ours -> ours.options(options));
    }

    public static Side open(String name, String uri) {
        Function<String, Side> opener = OPENERS.get(name);
        if (opener == null) {
            throw new IllegalArgumentException("no contender is called '" + name + "'; there are " + OPENERS.keySet());
        }
        return opener.apply(uri);
    }
}
