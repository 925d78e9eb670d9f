package io.github.reactivelock.faults;

import io.github.reactivelock.state.Share;
import io.github.reactivelock.testkit.history.History;
import io.github.reactivelock.testkit.history.HistoryChecker;
import io.github.reactivelock.testkit.history.HistoryEvent;
import io.github.reactivelock.testkit.history.HistoryEvent.Kind;
import io.github.reactivelock.testkit.history.HistoryFile;
import io.github.reactivelock.testkit.history.HistoryReport;
import io.github.reactivelock.testservers.RedisServer;
import io.github.reactivelock.testservers.TcpProxy;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Many processes contend for a few locks of a real Redis, in rounds: a calm one, then one in which things break. After
 * each round every flow has ended, its history is judged, and the store is looked at.
 */
@Command(
        name = "./soak",
        description = "Many processes contend for locks of a real Redis while things break. Prints a line a round and"
                + " one at the end, and exits with 1 if anything was wrong.",
        mixinStandardHelpOptions = true)
public final class Soak implements Callable<Integer> {

    private static final double HEAP_LIMIT_PERCENT = 20;

    @Option(names = "--minutes", description = "how long (default: 2, without --acquisitions)")
    private double minutes;

    @Option(names = "--acquisitions", description = "how many at least")
    private long wanted;

    @Option(names = "--clients", description = "processes (default: ${DEFAULT-VALUE})", defaultValue = "16")
    private int clients;

    @Option(names = "--round", description = "seconds of a round (default: ${DEFAULT-VALUE})", defaultValue = "30")
    private int seconds;

    @Option(names = "--clock", description = "shift the clock of a server instead; needs a C compiler")
    private boolean clock;

    @Option(
            names = "--outage",
            description = "make Redis unreachable under load instead, and see how soon there are locks again")
    private boolean outage;

    private final PrintStream out;
    private final ConcurrentLinkedQueue<HistoryEvent> own = new ConcurrentLinkedQueue<>();
    private final List<HistoryEvent> carried = new ArrayList<>();
    private long acquisitions;
    private long shares;
    private long overlaps;
    private long shareOverlaps;
    private long tokenRegressions;
    private long lostWakeups;
    private long leaks;
    private long disorders;

    Soak(PrintStream out) {
        this.out = out;
    }

    /**
     * Runs it.
     *
     * @param args see {@code --help}
     */
    public static void main(String... args) {
        System.exit(new CommandLine(new Soak(System.out)).execute(args));
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (clock) {
            return ClockTrial.run(out).isEmpty() ? 0 : 1;
        }
        if (outage) {
            return OutageTrial.run(out, Duration.ofSeconds(30)) ? 0 : 1;
        }
        long start = System.nanoTime();
        Path directory = Files.createTempDirectory("reactive-lock-soak-");
        // Redis appends before it answers, so that every grant is still there after a kill.
        try (RedisServer server = RedisServer.start("--appendonly", "yes", "--appendfsync", "no")) {
            // Every second client goes through a proxy.
            List<TcpProxy> proxies = IntStream.range(0, Math.max(1, clients / 2))
                    .mapToObj(i -> TcpProxy.to(server.port()))
                    .toList();
            History history = new History("soak", own::add);
            double growth;
            try (Fleet fleet = new Fleet(clients, directory, index -> uri(server, proxies, index))) {
                Storm storm = new Storm(server, proxies, fleet, history);
                for (int round = 1; round == 1 || !isEnough(start); round++) {
                    round(round, fleet, storm, server);
                    out.printf(
                            Locale.ROOT,
                            "round %d, %d s: acquisitions=%d wrong=%d faults=%s%n",
                            round,
                            Duration.ofNanos(System.nanoTime() - start).toSeconds(),
                            acquisitions,
                            wrong(),
                            storm.done());
                }
                growth = fleet.heapGrowthPercent();
            } finally {
                proxies.forEach(TcpProxy::close);
            }
            List<String> connections = Leftovers.connections(server);
            connections.forEach(out::println);
            leaks += connections.size();
            long lost = new SharedNumbers(directory.resolve(Client.NUMBERS), 0).lostUpdates();
            out.printf(
                    Locale.ROOT,
                    "lost_updates=%d disorders=%d shares=%d share_overlaps=%d%n",
                    lost,
                    disorders,
                    shares,
                    shareOverlaps);
            out.printf(
                    Locale.ROOT,
                    "acquisitions=%d overlaps=%d token_regressions=%d lost_wakeups=%d leaks=%d heap_growth_pct=%.1f%n",
                    acquisitions,
                    overlaps,
                    tokenRegressions,
                    lostWakeups,
                    leaks,
                    growth);
            return wrong() + lost == 0 && growth < HEAP_LIMIT_PERCENT ? 0 : 1;
        } finally {
            Leftovers.delete(directory);
        }
    }

    private void round(int round, Fleet fleet, Storm storm, RedisServer server) {
        own.clear();
        Duration time = Duration.ofSeconds(seconds);
        fleet.begin(round, time);
        if (round % 2 == 0) {
            storm.rage(time);
        }
        List<HistoryEvent> events = fleet.end(round);
        events.addAll(own);
        events.addAll(carried);
        HistoryReport report =
                new HistoryChecker(Client.LEASE).check(events, Leftovers.keys(server, Client.LEASE.plusSeconds(10)));
        List<Share> before = carried.stream()
                .filter(event -> event.kind() == Kind.GRANTED)
                .map(HistoryEvent::share)
                .toList();
        acquisitions += report.acquisitions() - before.size();
        shares += report.shares()
                - before.stream().filter(share -> !share.isWhole()).count();
        overlaps += report.overlaps().size();
        shareOverlaps += report.shareOverlaps();
        tokenRegressions += report.tokenRegressions().size();
        lostWakeups += report.lostWakeups().size();
        disorders += report.disorders().size();
        leaks += report.leaks().size();
        if (!report.isClean()) {
            try {
                report.verify();
            } catch (AssertionError wrong) {
                out.println(wrong.getMessage());
                out.println("all that happened in this round is in " + save(round, events));
            }
        }
        carryHighestTokens(events);
    }

    private static Path save(int round, List<HistoryEvent> events) {
        Path path = Path.of("soak-round-" + round + ".history").toAbsolutePath();
        try (HistoryFile file = new HistoryFile(path)) {
            events.forEach(file);
        }
        return path;
    }

    /** The next round's tokens have to be higher than this one's, those of shares than those of whole holds. */
    private void carryHighestTokens(List<HistoryEvent> events) {
        Map<String, HistoryEvent> highest = new HashMap<>();
        for (HistoryEvent event : events) {
            if (event.kind() == Kind.GRANTED) {
                String which = event.key() + (event.share().isWhole() ? "" : " shared");
                highest.merge(which, event, (one, other) -> one.token() > other.token() ? one : other);
            }
        }
        Set<String> flows = new HashSet<>();
        Set<String> clients = new HashSet<>();
        highest.values().forEach(event -> {
            flows.add(event.id());
            clients.add(event.client());
        });
        carried.clear();
        for (HistoryEvent event : events) {
            // Without its wait, which is judged together with those it waited for.
            boolean isTheirs = flows.contains(event.id()) && event.kind() != Kind.INVOKED;
            boolean isTheirEnd = event.kind() == Kind.KILLED && clients.contains(event.id());
            if (isTheirs || isTheirEnd) {
                carried.add(event);
            }
        }
        own.stream().filter(event -> event.kind() != Kind.KILLED).forEach(carried::add);
    }

    private long wrong() {
        return overlaps + tokenRegressions + lostWakeups + leaks + disorders;
    }

    private boolean isEnough(long start) {
        if (wanted > 0) {
            return acquisitions >= wanted;
        }
        return System.nanoTime() - start > (minutes > 0 ? minutes : 2) * 60e9;
    }

    private static String uri(RedisServer server, List<TcpProxy> proxies, int index) {
        int port = index % 2 == 1 ? proxies.get(index / 2 % proxies.size()).port() : server.port();
        return "redis://127.0.0.1:" + port;
    }
}
