package io.github.reactivelock.reliability;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.testkit.RedisServer;
import io.github.reactivelock.testkit.history.History;
import io.github.reactivelock.testkit.history.HistoryChecker;
import io.github.reactivelock.testkit.history.HistoryEvent;
import io.github.reactivelock.testkit.history.HistoryFile;
import io.github.reactivelock.testkit.history.HistoryReport;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Client processes that are killed and stopped. */
class ProcessFaultTest {

    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final Duration LONG = Duration.ofMinutes(5);

    @TempDir
    Path directory;

    private final RedisServer server = RedisServer.start();
    private final Queue<HistoryEvent> faults = new ConcurrentLinkedQueue<>();
    private final History history = new History("test", faults::add);
    private ClientProcess holder;
    private ClientProcess waiter;

    @BeforeEach
    void start() {
        holder = ClientProcess.start("holder", server.uri(), directory, 0);
        waiter = ClientProcess.start("waiter", server.uri(), directory, 1);
        holder.heard("ready", LIMIT);
        waiter.heard("ready", LIMIT);
    }

    @AfterEach
    void stop() {
        holder.close();
        waiter.close();
        server.close();
    }

    private static long granted(ClientProcess client, String id, Duration limit) {
        return Long.parseLong(client.heard("granted " + id + " ", limit));
    }

    private void waits(String id) {
        waiter.say("hold " + id + " a 0");
        Lab.eventually(
                "it waits",
                () -> server.command("ZCARD", "{reactivelock:a}:queue").equals(1L));
    }

    private HistoryReport report() {
        List<HistoryEvent> events =
                HistoryFile.read(List.of(Client.file(directory, "holder", 0), Client.file(directory, "waiter", 0)));
        events.addAll(faults);
        return new HistoryChecker(Client.LEASE).check(events, Leftovers.keys(server, LIMIT));
    }

    @Test
    void whatAKilledClientHeldGoesToTheWaiterWithinALeaseAndASecond() {
        holder.say("hold 1 a " + LONG.toMillis());
        long token = granted(holder, "1", LIMIT);
        waits("2");

        history.killed("holder");
        holder.kill();
        long next = granted(waiter, "2", LIMIT);

        assertThat(next).isGreaterThan(token);
        waiter.heard("released 2", LIMIT);
        HistoryReport report = report();
        report.verify();
        assertThat(report.acquisitions()).isEqualTo(2);
    }

    @Test
    void aClientStoppedPastItsLeaseLearnsOfItAtOnceAndCanDoNoHarmAnyMore() {
        holder.say("hold 1 a " + LONG.toMillis());
        long token = granted(holder, "1", LIMIT);
        holder.say("write " + token);
        holder.heard("accepted " + token, LIMIT);
        waits("2");

        history.faultBegan("stopped");
        holder.pause();
        long next = granted(waiter, "2", LIMIT);
        waiter.say("write " + next);
        waiter.heard("accepted " + next, LIMIT);
        waiter.heard("released 2", LIMIT);
        waiter.say("hold 3 a " + LONG.toMillis());
        long third = granted(waiter, "3", LIMIT);
        holder.resume();
        history.faultEnded("stopped");

        assertThat(holder.heard("failed 1 ", LIMIT)).contains("lost");
        holder.say("write " + token);
        holder.heard("refused " + token, LIMIT);
        assertThat(next).isGreaterThan(token);
        assertThat(third).isGreaterThan(next);
        assertThat(server.command("EXISTS", "{reactivelock:a}"))
                .as("its late release changes nothing")
                .isEqualTo(1L);
        waiter.close();
        holder.close();
        report().verify();
    }
}
