package io.github.reactivelock.benchmarks;

import static io.github.reactivelock.benchmarks.side.Sides.*;

import io.github.reactivelock.benchmarks.client.Load;
import io.github.reactivelock.benchmarks.report.Metric;
import io.github.reactivelock.benchmarks.scenario.FirstLock;
import io.github.reactivelock.benchmarks.scenario.Inside;
import io.github.reactivelock.benchmarks.scenario.Memory;
import io.github.reactivelock.benchmarks.scenario.Profile;
import io.github.reactivelock.benchmarks.scenario.Race;
import io.github.reactivelock.benchmarks.scenario.Recall;
import io.github.reactivelock.benchmarks.scenario.Renewal;
import io.github.reactivelock.benchmarks.scenario.Scale;
import io.github.reactivelock.benchmarks.scenario.Scenario;
import io.github.reactivelock.benchmarks.scenario.Several;
import io.github.reactivelock.benchmarks.scenario.Waited;
import io.github.reactivelock.benchmarks.server.Store;
import io.github.reactivelock.benchmarks.webflux.Tallies;
import io.github.reactivelock.benchmarks.webflux.WebFlux;
import java.util.List;
import java.util.Locale;

/** All scenarios. */
final class Scenarios {

    private static final List<String> CONTENDERS =
            List.of(OURS, REDISSON_ASYNC, REDISSON_REACTIVE, REDISSON_FAIR, SPRING);
    private static final List<String> IN_ORDER = List.of(OURS_FIFO, OURS_FIFO_IMMEDIATE, REDISSON_ASYNC, REDISSON_FAIR);

    private Scenarios() {}

    static List<Scenario> quick() {
        return List.of(
                sequential(List.of(
                        OURS,
                        OURS_IMMEDIATE,
                        OURS_BACKGROUND,
                        PING,
                        RAW_REACTIVE,
                        RAW_REACTIVE_HOP,
                        REDISSON_REACTIVE)),
                distinct(List.of(OURS, SET_ASYNC, REDISSON_ASYNC)),
                hot(100, "hot-100-one-process", List.of(OURS, REDISSON_ASYNC)),
                fifo(100, 4, "hot-100-four-clients-fifo", List.of(OURS_FIFO, REDISSON_ASYNC)));
    }

    static List<Scenario> all() {
        return List.of(
                sequential(List.of(
                        OURS,
                        OURS_IMMEDIATE,
                        OURS_BACKGROUND,
                        PING,
                        RAW_REACTIVE,
                        RAW_REACTIVE_HOP,
                        RAW_ASYNC,
                        REDISSON_REACTIVE,
                        REDISSON_ASYNC,
                        REDISSON_FENCED,
                        SPRING)),
                distinct(List.of(
                        OURS, OURS_IMMEDIATE, SET_ASYNC, SET_REACTIVE, RAW_ASYNC, REDISSON_ASYNC, REDISSON_REACTIVE)),
                hot(100, "hot-100-one-process", CONTENDERS),
                hot(1_000, "hot-1000-one-process", List.of(OURS, REDISSON_ASYNC)),
                fifo(100, 4, "hot-100-four-clients-fifo", IN_ORDER),
                fifo(
                        4,
                        4,
                        "hot-4-four-clients-fifo",
                        List.of(OURS_FIFO, OURS_FIFO_IMMEDIATE, OURS_FIFO_BACKGROUND, REDISSON_ASYNC)),
                fifo(4, 4, "hot-4-four-clients", List.of(OURS, REDISSON_ASYNC)),
                fifo(16, 16, "hot-16-sixteen-clients-fifo", List.of(OURS_FIFO, REDISSON_ASYNC)),
                fifo(16, 16, "hot-16-sixteen-clients", List.of(OURS, REDISSON_ASYNC)),
                passing(4, "hot-100-four-clients"),
                budgets(4, "pass-budgets-four-clients", List.of(OURS, OURS_100, OURS_300, OURS_4000)),
                budgets(4, "time-budgets-four-clients", List.of(BUSY, BUSY_10, BUSY_200)),
                fifo(100, 16, "hot-100-sixteen-clients-fifo", IN_ORDER),
                passing(16, "hot-100-sixteen-clients"),
                budgets(16, "pass-budgets-sixteen-clients", List.of(OURS, OURS_100, OURS_300, OURS_4000)),
                budgets(16, "time-budgets-sixteen-clients", List.of(BUSY, BUSY_10, BUSY_200)),
                new WebFlux("webflux-hot", "WebFlux: 64 connections, one key", 1),
                new WebFlux("webflux-100", "WebFlux: 64 connections, 100 keys", Tallies.MOST_KEYS),
                new FirstLock(),
                Profile.redis(),
                new Renewal(),
                new Memory(),
                new Scale(),
                vertx("vertx-sequential", "Vert.x: one lock without contention, one at a time", 1, Metric.CYCLE_MEDIAN),
                vertx("vertx-distinct-1024", "Vert.x: 1,024 different keys at once", 1_024, Metric.PER_SECOND),
                new Several("quorum", List.of(quorum(Store.QUORUM_3, 3), quorum(Store.QUORUM_5, 5))),
                etcd(
                        "etcd-sequential",
                        "etcd: one lock without contention, one at a time",
                        1,
                        Metric.CYCLE_MEDIAN,
                        OURS_ETCD_IMMEDIATE),
                etcd("etcd-hot-100", "etcd: one key, 100 flows of one process", 100, Metric.PER_SECOND, OURS_ETCD_FIFO),
                zooKeeper(),
                new Several(
                        "consul",
                        List.of(
                                consul(
                                        "consul-sequential",
                                        "Consul: one lock without contention, one at a time",
                                        1,
                                        Metric.CYCLE_MEDIAN,
                                        OURS_CONSUL_IMMEDIATE),
                                consul(
                                        "consul-hot-50",
                                        "Consul: one key, 50 flows of one process",
                                        50,
                                        Metric.PER_SECOND,
                                        OURS_CONSUL_FIFO))),
                new Several(
                        "retention",
                        List.of(
                                alone(
                                        "retention-sequential",
                                        "A lock that stays: one flow, one key, again and again",
                                        List.of(OURS_RETAINED, OURS_RETAINED_IMMEDIATE, OURS, REDISSON_ASYNC)),
                                alone(
                                        "retention-turns",
                                        "A lock that stays: two clients that take turns",
                                        List.of(TURNS_RETAINED, TURNS_PLAIN)),
                                alone(
                                        "retention-etcd",
                                        "etcd: a lock that stays",
                                        Store.ETCD,
                                        List.of(OURS_ETCD_RETAINED, JETCD)),
                                alone(
                                        "retention-postgresql",
                                        "PostgreSQL: a lock that stays",
                                        Store.POSTGRESQL,
                                        List.of(OURS_SQL_RETAINED, SHED_LOCK)),
                                new Recall())),
                new Several(
                        "shares",
                        List.of(
                                shares(
                                        "shares-sequential",
                                        "Read locks: without contention, one at a time",
                                        new Load(1, 1, Load.Note.LATENCY),
                                        1,
                                        List.of(OURS_SHARED, OURS, REDISSON_READ)),
                                mixed("shares-mixed-one-process", 1),
                                mixed("shares-mixed-four-clients", 4),
                                permits("permits-one-process", 1),
                                permits("permits-four-clients", 4),
                                new Race(
                                        "zookeeper-permits-50",
                                        "ZooKeeper: 50 flows of one process, 10 permits",
                                        Store.ZOOKEEPER,
                                        1,
                                        new Load(50, 1, Load.Note.LATENCY),
                                        Metric.PER_SECOND,
                                        List.of(OURS_ZOOKEEPER_PERMITS, CURATOR_SEMAPHORE)))),
                new Several(
                        "sql",
                        List.of(
                                sql(Store.POSTGRESQL, 1, 1),
                                sql(Store.POSTGRESQL, 100, 1),
                                sql(Store.MARIADB, 1, 1),
                                sql(Store.MARIADB, 100, 1),
                                sql(Store.POSTGRESQL_UNFLUSHED, 1, 1),
                                sql(Store.MARIADB_UNFLUSHED, 1, 1),
                                sql(Store.POSTGRESQL, 4, 4),
                                sql(Store.POSTGRESQL, 100, 4),
                                sql(Store.MARIADB, 4, 4),
                                sql(Store.MARIADB, 100, 4))),
                new Several("sql-mysql", List.of(sql(Store.MYSQL, 4, 4))),
                new Waited("PostgreSQL", Store.POSTGRESQL),
                new Waited("MariaDB", Store.MARIADB),
                new Waited("MySQL", Store.MYSQL),
                Profile.sql("PostgreSQL", Store.POSTGRESQL),
                Profile.sql("MariaDB", Store.MARIADB),
                Profile.sql("MySQL", Store.MYSQL),
                new Inside());
    }

    private static Race sequential(List<String> sides) {
        return alone("sequential", "One lock without contention, one at a time", sides);
    }

    private static Race alone(String name, String title, List<String> sides) {
        return alone(name, title, Store.REDIS, sides);
    }

    private static Race alone(String name, String title, Store store, List<String> sides) {
        Load load = new Load(1, 1, Load.Note.LATENCY);
        return new Race(name, title, store, 1, load, Metric.CYCLE_MEDIAN, sides);
    }

    private static Race distinct(List<String> sides) {
        Load load = new Load(1_024, 1_024, Load.Note.COUNT);
        return new Race(
                "distinct-1024", "1,024 different keys at once", Store.REDIS, 1, load, Metric.PER_SECOND, sides);
    }

    private static Race hot(int flows, String name, List<String> sides) {
        Load load = new Load(flows, 1, Load.Note.COUNT);
        String title = String.format("One key, %,d flows of one process", flows);
        return new Race(name, title, Store.REDIS, 1, load, Metric.PER_SECOND, sides);
    }

    private static Race fifo(int flows, int clients, String name, List<String> sides) {
        Load load = new Load(flows, 1, Load.Note.EVENTS);
        String order = sides.contains(OURS_FIFO) ? ", in order of arrival" : "";
        String title = "One key, " + flows + " flows of " + clients + " processes" + order;
        return new Race(name, title, Store.REDIS, clients, load, Metric.PER_SECOND, sides);
    }

    private static Race passing(int clients, String name) {
        Load load = new Load(100, 1, Load.Note.GAPS);
        String title = "One key, 100 flows of " + clients + " processes, passed on within a process";
        return new Race(name, title, Store.REDIS, clients, load, Metric.PER_SECOND, List.of(OURS, REDISSON_ASYNC));
    }

    private static Race budgets(int clients, String name, List<String> sides) {
        Load load = new Load(100, 1, Load.Note.WAITS);
        String title = "The same with other budgets, " + clients + " processes"
                + (sides.contains(BUSY) ? ", a millisecond of work in each" : "");
        return new Race(name, title, Store.REDIS, clients, load, Metric.LONGEST_WAIT, sides);
    }

    private static Race vertx(String name, String title, int keys, Metric ranked) {
        Load load = new Load(keys, keys, keys == 1 ? Load.Note.LATENCY : Load.Note.COUNT);
        return new Race(name, title, Store.REDIS, 1, load, ranked, List.of(OURS_VERTX, RAW_VERTX));
    }

    private static Race quorum(Store store, int servers) {
        String title = "Quorum of " + servers + " servers: one lock without contention, one at a time";
        Load load = new Load(1, 1, Load.Note.LATENCY);
        List<String> sides = List.of(OURS_QUORUM, MAJORITY_PING, RED_LOCK);
        return new Race("quorum-" + servers, title, store, 1, load, Metric.CYCLE_MEDIAN, sides);
    }

    private static Race shares(String name, String title, Load load, int clients, List<String> sides) {
        Metric ranked = load.flows() == 1 ? Metric.CYCLE_MEDIAN : Metric.PER_SECOND;
        return new Race(name, title, Store.REDIS, clients, load, ranked, sides);
    }

    private static Race mixed(String name, int clients) {
        String title = "Read locks: one key, 100 flows, processes: " + clients + ", one acquisition in ten writes";
        Load load = new Load(100, 1, Load.Note.LATENCY);
        return shares(name, title, load, clients, List.of(OURS_MIXED, REDISSON_READ_WRITE));
    }

    private static Race permits(String name, int clients) {
        String title = "Semaphores: 100 flows, processes: " + clients + ", 10 permits";
        Load load = new Load(100, 1, Load.Note.LATENCY);
        return shares(name, title, load, clients, List.of(OURS_PERMITS, REDISSON_SEMAPHORE, REDISSON_EXPIRABLE));
    }

    private static Race zooKeeper() {
        Load load = new Load(50, 1, Load.Note.LATENCY);
        List<String> sides = List.of(OURS_ZOOKEEPER, OURS_ZOOKEEPER_FIFO, CURATOR);
        return new Race(
                "zookeeper-hot-50",
                "ZooKeeper: one key, 50 flows of one process",
                Store.ZOOKEEPER,
                1,
                load,
                Metric.PER_SECOND,
                sides);
    }

    private static Race consul(String name, String title, int flows, Metric ranked, String variant) {
        Load load = new Load(flows, 1, Load.Note.LATENCY);
        return new Race(name, title, Store.CONSUL, 1, load, ranked, List.of(OURS_CONSUL, variant, PLAIN_CONSUL));
    }

    /** Its name is such as {@code sql-mariadb-100-4}: flows and processes. */
    private static Race sql(Store store, int flows, int clients) {
        String kind = store.name().toLowerCase(Locale.ROOT).replace('_', '-');
        String name = "sql-" + kind + "-" + flows + "-" + clients;
        String product = store == Store.MYSQL ? "MySQL" : kind.startsWith("mariadb") ? "MariaDB" : "PostgreSQL";
        String title = product
                + (kind.endsWith("unflushed") ? " that answers before a commit is on the disk" : "")
                + ": one key, flows: "
                + flows + ", processes: " + clients;
        Load load = new Load(flows, 1, Load.Note.LATENCY);
        Metric ranked = flows == 1 ? Metric.CYCLE_MEDIAN : Metric.PER_SECOND;
        List<String> sides = flows == 1
                ? List.of(OURS_SQL, OURS_SQL_IMMEDIATE, SPRING_JDBC, SHED_LOCK, SQL_PING)
                : flows == clients
                        ? List.of(OURS_SQL, OURS_SQL_FIFO, SPRING_JDBC, SHED_LOCK, SQL_PING)
                        : List.of(OURS_SQL, OURS_SQL_FIFO, SPRING_JDBC, SHED_LOCK);
        return new Race(name, title, store, clients, load, ranked, sides);
    }

    private static Race etcd(String name, String title, int flows, Metric ranked, String variant) {
        Load load = new Load(flows, 1, Load.Note.LATENCY);
        List<String> sides = List.of(OURS_ETCD, variant, JETCD);
        return new Race(name, title, Store.ETCD, 1, load, ranked, sides);
    }
}
