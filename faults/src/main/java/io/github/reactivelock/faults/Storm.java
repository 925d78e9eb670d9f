package io.github.reactivelock.faults;

import io.github.reactivelock.testkit.history.History;
import io.github.reactivelock.testservers.RedisServer;
import io.github.reactivelock.testservers.TcpProxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;

/** Breaks one thing after the other, for a time. What may delay anybody is recorded, so that the checker excuses it. */
final class Storm {

    private static final Duration A_MOMENT = Duration.ofMillis(300);
    private static final Duration LONGER_THAN_A_LEASE = Client.LEASE.plusSeconds(1);

    private final RedisServer server;
    private final List<TcpProxy> proxies;
    private final Fleet fleet;
    private final History history;
    private final Map<String, Integer> done = new TreeMap<>();

    Storm(RedisServer server, List<TcpProxy> proxies, Fleet fleet, History history) {
        this.server = server;
        this.proxies = proxies;
        this.fleet = fleet;
        this.history = history;
    }

    /** How often each fault was made. */
    Map<String, Integer> done() {
        return done;
    }

    void rage(Duration time) {
        long end = System.nanoTime() + time.toNanos();
        while (System.nanoTime() - end < 0) {
            oneFault();
            pause(Duration.ofMillis(ThreadLocalRandom.current().nextLong(200, 1_500)));
        }
    }

    private void oneFault() {
        TcpProxy proxy = proxies.get(ThreadLocalRandom.current().nextInt(proxies.size()));
        switch (ThreadLocalRandom.current().nextInt(14)) {
            case 0 -> fault("connection cut", proxy::cut, A_MOMENT, proxy::mend);
            case 1 -> fault("connection cut past the lease", proxy::cut, LONGER_THAN_A_LEASE, proxy::mend);
            case 2 -> fault("connection reset", proxy::reset, Duration.ZERO, proxy::mend);
            case 3 -> fault("connection silent", proxy::freeze, A_MOMENT, proxy::mend);
            case 4 -> fault("answers dropped", proxy::dropReplies, A_MOMENT, proxy::mend);
            case 5 ->
                fault(
                        "connection slow",
                        () -> proxy.delay(Duration.ofMillis(20)),
                        A_MOMENT,
                        () -> proxy.delay(Duration.ZERO));
            case 6 -> {
                ClientProcess victim = fleet.any();
                fault("client stopped", victim::pause, A_MOMENT, victim::resume);
            }
            case 7 -> {
                ClientProcess victim = fleet.any();
                fault("client stopped past the lease", victim::pause, LONGER_THAN_A_LEASE, victim::resume);
            }
            case 8 -> {
                if (fleet.canSpareOne()) {
                    count("client killed");
                    history.killed(fleet.killOne());
                }
            }
            case 9 -> fault("server stopped", server::pause, A_MOMENT, server::resume);
            case 10 -> fault("server restarted", server::stop, Duration.ZERO, server::restart);
            case 11 -> fault("server killed", server::kill, Duration.ZERO, server::restart);
            case 12 -> {
                count("push connections killed");
                history.pushesCut();
                server.command("CLIENT", "KILL", "TYPE", "pubsub");
            }
            // Excuses nothing.
            default -> {
                count("scripts forgotten");
                server.command("SCRIPT", "FLUSH");
            }
        }
    }

    private void fault(String name, Runnable broken, Duration time, Runnable mended) {
        count(name);
        history.faultBegan(name);
        broken.run();
        pause(time);
        mended.run();
        history.faultEnded(name);
    }

    private void count(String name) {
        done.merge(name, 1, Integer::sum);
    }

    private static void pause(Duration time) {
        try {
            Thread.sleep(time.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
