package io.github.reactivelock.benchmarks.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;

/**
 * A target of the project.
 *
 * @param what in words
 * @param figure the figure's name
 * @param bound on which side of the value it is reached
 * @param value such as a ratio
 */
public record Target(String what, String figure, Bound bound, double value) {

    /** On which side of the value a figure reaches the target. */
    private enum Bound {
        AT_MOST,
        AT_LEAST
    }

    private static final List<Target> ALL = targets();

    /** The targets that the run measured. */
    public static Table table(Report report) {
        Table table = new Table("Targets", List.of("target", "figure", "bound", "measured", ""));
        for (Target target : ALL) {
            OptionalDouble measured = report.value(target.figure);
            if (measured.isPresent()) {
                table.add(target.row(measured.getAsDouble()));
            }
        }
        return table;
    }

    private List<String> row(double measured) {
        boolean reached = bound == Bound.AT_MOST ? measured <= value : measured >= value;
        return List.of(
                what,
                "`" + figure + "`",
                (bound == Bound.AT_MOST ? "≤ " : "≥ ") + shown(value),
                // A figure that just misses must not look like its bound.
                reached ? shown(measured) : String.format(Locale.ROOT, "%.3f", measured),
                reached ? "reached" : "**not reached**");
    }

    private static String shown(double value) {
        String text = String.format(Locale.ROOT, value >= 100 ? "%.0f" : "%.2f", value);
        return text.endsWith(".00") ? text.substring(0, text.length() - 3) : text;
    }

    private static List<Target> targets() {
        List<Target> all = new ArrayList<>();
        all.add(least(
                "one at a time, beside raw reactive scripts, neither hops",
                "ratio sequential-immediate raw-reactive",
                0.9));
        all.add(least("the same, both hop off the driver's thread", "ratio sequential raw-reactive-hop", 0.9));
        all.add(least("the default, which hops, beside scripts that do not", "ratio sequential raw-reactive", 0.9));
        all.add(least("the default, beside Redisson's future", "ratio sequential redisson-async", 1.1));
        all.add(least("beside Redisson's publisher", "ratio sequential redisson-reactive", 1.2));
        all.add(least("release not awaited, beside two PINGs", "ratio sequential-background 2-x-ping", 1.4));
        all.add(most("commands for a pair", "commands sequential", 2));
        all.add(most("messages without a subscriber", "publishes sequential", 0));
        all.add(most("subscriptions", "subscribes sequential", 0));
        all.add(least("1,024 keys, beside `SET` + compare-and-delete", "ratio distinct-1024 set-delete-async", 1.6));
        for (String hot : List.of("hot-100-one-process", "hot-1000-one-process")) {
            all.add(least("hot key in one process, beside Redisson", "ratio " + hot + " redisson-async", 50));
            all.add(most("its commands for an acquisition", "commands " + hot, 0.1));
        }
        fifo(all, "hot-100-four-clients-fifo", 3.5);
        fifo(all, "hot-100-sixteen-clients-fifo", 12);
        oneFlowEach(all, "hot-4-four-clients-fifo", 3, 2);
        oneFlowEach(all, "hot-4-four-clients", 3, 2);
        oneFlowEach(all, "hot-16-sixteen-clients-fifo", 6, 2.5);
        oneFlowEach(all, "hot-16-sixteen-clients", 6, 2.5);
        passing(all, "hot-100-four-clients");
        passing(all, "hot-100-sixteen-clients");
        webFlux(all, "webflux-hot", 3);
        webFlux(all, "webflux-100", 1.5);
        all.add(most("first lock of a JVM, in first PINGs of one", "ratio first-lock bare-ping", 1.5));
        all.add(most("commands that renew 10,000 holds", "commands renewal-10000", 100));
        all.add(most("bytes a waiter", "bytes waiter", 300));
        all.add(most("bytes a hold", "bytes hold", 600));
        all.add(most("renewing a million holds, in percent of a processor", "percent renewing-1000000", 50));
        all.add(most("of them lost", "lost renewing-1000000", 0));
        all.add(most("bytes allocated for a lock alone", "bytes UncontendedBenchmark.withLock", 1_300));
        all.add(most("and taken again below", "bytes UncontendedBenchmark.reentrant", 1_700));
        all.add(most("for a hand-over in the process", "bytes HandOverBenchmark.passOn", 400));
        all.add(most("for a renewal of 10,000 holds", "bytes RenewalBenchmark.period", 3_000_000));
        all.add(least("Vert.x, one at a time, beside raw scripts", "ratio vertx-sequential raw-vertx", 0.9));
        all.add(least("Vert.x, 1,024 keys", "ratio vertx-distinct-1024 raw-vertx", 0.8));
        for (String quorum : List.of("quorum-3", "quorum-5")) {
            all.add(least(quorum + ", beside Redisson's RedLock", "ratio " + quorum + " redisson-redlock", 2));
            all.add(least("beside two PINGs of a majority", "ratio " + quorum + " 2-x-ping-majority", 0.8));
        }
        all.add(least(
                "etcd, one at a time, beside jetcd's lock, neither hops",
                "ratio etcd-sequential-immediate jetcd-lock",
                1));
        all.add(least("the default, which hops", "ratio etcd-sequential jetcd-lock", 1));
        all.add(least("etcd, 100 waiters, beside jetcd's lock", "ratio etcd-hot-100 jetcd-lock", 1.8));
        all.add(least("the same, in order of arrival", "ratio etcd-hot-100-fifo jetcd-lock", 1.8));
        all.add(least("ZooKeeper, 50 waiters, beside Curator's mutex", "ratio zookeeper-hot-50 curator-blocking", 2));
        all.add(least("the same, in order of arrival", "ratio zookeeper-hot-50-fifo curator-blocking", 2));
        // Guesses from before the first measurement; docs/stores/consul.md has that.
        all.add(least(
                "Consul, one at a time, beside acquire and release, neither hops",
                "ratio consul-sequential-immediate plain-consul",
                0.9));
        all.add(least("Consul, 50 waiters, beside the same", "ratio consul-hot-50 plain-consul", 2));
        all.add(least("a lock that stays, beside Redisson's future", "ratio retention-sequential redisson-async", 50));
        all.add(least("the same, neither hops", "ratio retention-sequential-immediate redisson-async", 50));
        all.add(least("the same on etcd, beside jetcd's lock", "ratio retention-etcd jetcd-lock", 500));
        all.add(least("on PostgreSQL, beside ShedLock", "ratio retention-postgresql shedlock-polling", 500));
        all.add(least(
                "two clients that take turns, beside the same without", "ratio retention-turns turns-plain", 0.95));
        all.add(most("from the claim to the hold, in round trips", "ratio retention-recall round-trip", 2.2));
        all.add(least("read locks, one at a time, beside our exclusive ones", "ratio shares-sequential ours", 0.9));
        for (String shares : List.of("one-process", "four-clients")) {
            String mixed = "ratio shares-mixed-" + shares + " redisson-read-write";
            all.add(least("readers and a tenth of writers, beside Redisson", mixed, 20));
            for (String peer : List.of("redisson-semaphore", "redisson-expirable")) {
                all.add(least("10 permits, beside Redisson", "ratio permits-" + shares + " " + peer, 10));
            }
        }
        all.add(least("ZooKeeper, beside Curator's", "ratio zookeeper-permits-50 curator-semaphore-blocking", 10));
        for (String sql : List.of("sql-postgresql", "sql-mariadb")) {
            for (String peer : List.of("spring-jdbc-blocking", "shedlock-polling")) {
                all.add(least(sql + ", one at a time", "ratio " + sql + "-1-1 " + peer, 1));
                all.add(least("the same, commits not flushed", "ratio " + sql + "-unflushed-1-1 " + peer, 1));
                all.add(least("100 flows of one process", "ratio " + sql + "-100-1 " + peer, 20));
                all.add(least("100 flows of four processes", "ratio " + sql + "-100-4 " + peer, 20));
            }
        }
        handedOver(all, "postgresql", 3, 450);
        handedOver(all, "mariadb", 1.5, 600);
        handedOver(all, "mysql", 1.5, Double.NaN);
        return all;
    }

    /** Between processes; how long a waiter waited must not matter. */
    private static void handedOver(List<Target> all, String database, double ratio, double micros) {
        String sql = "sql-" + database + "-4-4";
        all.add(least(
                "hand-overs to another process, beside polling",
                "ratio " + sql + "-hand-overs shedlock-polling",
                ratio));
        if (!Double.isNaN(micros)) {
            all.add(most("µs of the client for an acquisition", "micros " + sql + "-client", micros));
        }
        for (String waited : List.of("-200", "-2000")) {
            String figure = "millis sql-waited-" + database + waited;
            all.add(most("ms from the end of the work to the next holder, median", figure, 10));
            all.add(most("the longest", figure + "-longest", 50));
        }
    }

    private static void fifo(List<Target> all, String scenario, double ratio) {
        all.add(least(
                "hot key over clients, in order, beside Redisson", "ratio " + scenario + " redisson-async", ratio));
        all.add(least(
                "the same, both on the driver's thread", "ratio " + scenario + "-immediate redisson-async", ratio));
        all.add(most("its commands for an acquisition", "commands " + scenario, 2.3));
        all.add(most("its hand-over, in round trips", "ratio " + scenario + "-hand-over round-trip", 1.5));
        all.add(most("the same, while all clients PING", "ratio " + scenario + "-hand-over busy-round-trip", 1.5));
        all.add(most("its p99 of acquire + release, in medians", "ratio " + scenario + "-p99 p50", 2));
    }

    private static void oneFlowEach(List<Target> all, String scenario, double ratio, double trips) {
        all.add(least("one flow in each process, beside Redisson", "ratio " + scenario + " redisson-async", ratio));
        all.add(most("its hand-over, in round trips", "ratio " + scenario + "-hand-over round-trip", trips));
    }

    private static void passing(List<Target> all, String scenario) {
        all.add(least("the same, passed on within a client", "ratio " + scenario + " redisson-async", 50));
        all.add(most("its longest wait, in budgets of all clients", "ratio " + scenario + "-longest-wait budgets", 1));
    }

    private static void webFlux(List<Target> all, String scenario, double ratio) {
        all.add(least(
                "requests to WebFlux, beside Redisson's publisher", "ratio " + scenario + " redisson-reactive", ratio));
        all.add(most("its requests that failed", "errors " + scenario, 0));
        all.add(most("its counts that were lost", "lost " + scenario, 0));
        all.add(most("its calls that block, by BlockHound", "blocked " + scenario, 0));
    }

    private static Target least(String what, String figure, double value) {
        return new Target(what, figure, Bound.AT_LEAST, value);
    }

    private static Target most(String what, String figure, double value) {
        return new Target(what, figure, Bound.AT_MOST, value);
    }
}
