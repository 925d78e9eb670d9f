package io.github.reactivelock.benchmarks.scenario;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.benchmarks.report.Figure;
import io.github.reactivelock.benchmarks.report.Report;
import io.github.reactivelock.benchmarks.report.Table;
import io.github.reactivelock.benchmarks.side.Sides;
import io.github.reactivelock.lettuce.LettuceLockBackend;
import io.github.reactivelock.testservers.TcpProxy;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import reactor.core.publisher.Mono;

/**
 * How long a client waits for a lock that another one keeps, from its claim to its hold, in round trips. Both reach the
 * server by a way that takes a quarter of a millisecond in each direction, and a round trip is a PING on that way.
 */
public final class Recall implements Scenario {

    private static final int TIMES_A_ROUND = 100;
    private static final Duration ONE_WAY = Duration.ofNanos(250_000);
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @Override
    public String name() {
        return "retention-recall";
    }

    @Override
    public void run(Bench bench, Report report) {
        String direct = bench.redis().uri();
        try (TcpProxy way = TcpProxy.to(Integer.parseInt(direct.substring(direct.lastIndexOf(':') + 1)))) {
            way.delay(ONE_WAY);
            measure(bench, "redis://localhost:" + way.port(), report);
        }
    }

    private void measure(Bench bench, String uri, Report report) {
        LockOptions options = LockOptions.defaults().withRetention(Duration.ofSeconds(20));
        LockClient keeper = LockClient.builder(LettuceLockBackend.connect(uri))
                .options(options)
                .build();
        LockClient other = LockClient.create(LettuceLockBackend.connect(uri));
        RedisClient pings = RedisClient.create(uri);
        List<Double> waits = new ArrayList<>();
        List<Double> trips = new ArrayList<>();
        try (StatefulRedisConnection<String, String> connection = pings.connect()) {
            for (int i = -TIMES_A_ROUND; i < TIMES_A_ROUND * bench.pace().rounds(); i++) {
                String key = "recall:" + i;
                keeper.withLock(key, Mono.empty()).block(PATIENCE);
                long since = System.nanoTime();
                LockHandle held = Objects.requireNonNull(other.acquire(key).block(PATIENCE));
                long acquired = System.nanoTime();
                held.release().block(PATIENCE);
                long pingedAt = System.nanoTime();
                connection.reactive().ping().block(PATIENCE);
                if (i >= 0) { // before that it warms up
                    waits.add((acquired - since) / 1e3);
                    trips.add((System.nanoTime() - pingedAt) / 1e3);
                }
            }
        } finally {
            keeper.close().block(PATIENCE);
            other.close().block(PATIENCE);
            pings.shutdown();
        }
        double wait = Race.median(waits);
        double trip = Race.median(trips);
        Table table = new Table(
                "A lock that another client keeps, from the claim to the hold",
                List.of(name(), "median µs", "a PING, median µs", "in round trips"));
        table.add(List.of(Sides.OURS_RETAINED, shown("%.0f", wait), shown("%.0f", trip), shown("%.2f", wait / trip)));
        report.add(table);
        report.add(Figure.ratio(name(), "round-trip", wait / trip));
    }

    private static String shown(String format, double value) {
        return String.format(Locale.ROOT, format, value);
    }
}
