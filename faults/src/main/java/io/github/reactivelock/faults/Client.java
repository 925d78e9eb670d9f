package io.github.reactivelock.faults;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.election.ElectionState;
import io.github.reactivelock.election.LeaderElection;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.support.FireAndForget;
import io.github.reactivelock.testkit.history.History;
import io.github.reactivelock.testkit.history.HistoryEvent;
import io.github.reactivelock.testkit.history.HistoryFile;
import io.github.reactivelock.testkit.history.StallWatch;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * A process with one lock client, told on standard input what to do, one line a command, answering on standard output:
 *
 * <pre>
 * round N MILLIS          traffic for that long           round N HEAP, when all its flows have ended
 * hold ID KEY MILLIS      one hold, at most that long     granted ID TOKEN, then released ID or failed ID WHY
 * read ID KEY MILLIS      the same, shared                the same
 * keep ID KEY             a hold that is over at once,    the same
 *                         of a lock that is kept then
 * write TOKEN             a write to a fenced register    accepted TOKEN or refused TOKEN
 * lead KEY                campaigns for ever              campaigns, then leads TERM and stopped TERM in turn
 * resign                  steps down, if it leads
 * </pre>
 *
 * <p>It closes its client when standard input ends, and answers {@code left} with the names of the threads that are
 * still there and were not before the client was.
 */
public final class Client {

    static final Duration LEASE = Duration.ofSeconds(4);
    static final String NUMBERS = "numbers";
    private static final int FLOWS = 12;
    private static final Duration THREADS_END = Duration.ofSeconds(30);
    /**
     * Threads of the JVM, of Reactor, of its Netty, of this program and of all clients, which are there for everybody.
     */
    private static final List<String> SHARED = List.of(
            "parallel-",
            "boundedElastic-",
            "single-",
            "stall-watch",
            "Cleaner-",
            "SIGTERM",
            "reactor-tcp-",
            "reactive-lock-work-");

    private final String name;
    private final Path directory;
    private final Set<Thread> threadsBefore = Thread.getAllStackTraces().keySet();
    private final Backends backends = new Backends();
    private final LockClient lock;
    private final boolean recalls;
    private final History history;
    private final SharedNumbers numbers;
    private LeaderElection election;
    private volatile Consumer<HistoryEvent> sink = event -> {};

    private Client(String name, String uri, Path directory, int index) {
        this.name = name;
        this.directory = directory;
        this.history = new History(name, event -> sink.accept(event));
        LockBackend backend = backends.connect(uri);
        this.recalls = backend.supportsRecall();
        this.lock = LockClient.builder(history.observe(backend))
                .options(LockOptions.defaults().withLease(Backends.lease(uri)))
                .name(name)
                .commandTimeout(Backends.lease(uri))
                .build();
        this.election = LeaderElection.of(lock, "unused");
        this.numbers = new SharedNumbers(directory.resolve(NUMBERS), index);
    }

    /**
     * Runs the process.
     *
     * @param args its name, the address of the store as {@link Backends} understands it, the directory it shares with
     *     the others, and its number there
     * @throws IOException if standard input breaks
     */
    public static void main(String... args) throws IOException {
        Client client = new Client(args[0], args[1], Path.of(args[2]), Integer.parseInt(args[3]));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        StallWatch stalls = StallWatch.start(client.history);
        client.obeyAll(in);
        client.backends.close();
        stalls.close();
        say("left " + client.threadsLeft());
        say("closed");
    }

    static Path file(Path directory, String name, int round) {
        return directory.resolve(name + "-" + round + ".history");
    }

    private void obeyAll(BufferedReader in) throws IOException {
        // Connects, and loads what has to be loaded, before anybody counts the seconds.
        lock.withLock("warm-up/" + name, Mono.empty())
                .retryWhen(Retry.fixedDelay(100, Duration.ofMillis(200)))
                .block();
        Mono.defer(() -> lock.shared().withLock("warm-up of shares/" + name, Mono.empty()))
                .onErrorComplete() // not every store has them
                .block();
        try (HistoryFile single = new HistoryFile(file(directory, name, 0))) {
            sink = single;
            say("ready");
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                String[] words = line.split(" ", -1);
                switch (words[0]) {
                    case "round" -> round(Integer.parseInt(words[1]), Duration.ofMillis(Long.parseLong(words[2])));
                    case "hold" -> hold(lock, words[1], words[2], Duration.ofMillis(Long.parseLong(words[3])));
                    case "read" -> hold(lock.shared(), words[1], words[2], Duration.ofMillis(Long.parseLong(words[3])));
                    case "keep" ->
                        hold(
                                lock.with(lock.options()
                                        .withRetention(lock.options().lease())),
                                words[1],
                                words[2],
                                Duration.ZERO);
                    case "lead" -> campaign(words[1]);
                    case "resign" -> {
                        if (election.state() instanceof ElectionState.Leading leading) {
                            FireAndForget.run("resigning", leading.leadership().resign());
                        }
                    }
                    case "write" ->
                        say((numbers.accepts(0, Long.parseLong(words[1])) ? "accepted " : "refused ") + words[1]);
                    default -> throw new IllegalArgumentException("no such command: " + line);
                }
            }
            // While what it ends can still be recorded.
            lock.close().block();
        }
    }

    private void round(int number, Duration time) {
        try (HistoryFile file = new HistoryFile(file(directory, name, number))) {
            sink = file;
            Traffic traffic = new Traffic(history, lock, recalls, numbers, time);
            Flux.range(0, FLOWS).flatMap(flow -> traffic.turns()).blockLast();
            sink = event -> {};
        }
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        say("round " + number + " " + (runtime.totalMemory() - runtime.freeMemory()));
    }

    private void campaign(String key) {
        election = LeaderElection.of(lock, key);
        election.lead(term -> Flux.never()
                        .doOnSubscribe(begun -> say("leads " + term.term()))
                        .doOnCancel(() -> say("stopped " + term.term())))
                .subscribe(never -> {}, error -> say("failed " + key + " " + error.getMessage()));
        say("campaigns");
    }

    private void hold(LockClient client, String id, String key, Duration time) {
        history.withLock(client, key, held -> {
                    say("granted " + id + " " + held.fencingToken());
                    return client.options().share().isWhole()
                            ? Increment.of(numbers, 0, held, time)
                            : Increment.passing(held, time);
                })
                .doOnSuccess(done -> say("released " + id))
                .subscribe(done -> {}, error -> say("failed " + id + " " + error.getMessage()));
    }

    /** Waits for those that are about to end. */
    private String threadsLeft() {
        long end = System.nanoTime() + THREADS_END.toNanos();
        Set<String> left = newThreads();
        while (!left.isEmpty() && System.nanoTime() - end < 0) {
            Mono.delay(Duration.ofMillis(50)).block();
            left = newThreads();
        }
        return String.join(", ", left);
    }

    private Set<String> newThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> !threadsBefore.contains(thread))
                .map(Thread::getName)
                .filter(name -> SHARED.stream().noneMatch(name::startsWith))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static void say(String line) {
        System.out.println(line);
    }
}
