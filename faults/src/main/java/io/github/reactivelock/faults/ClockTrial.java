package io.github.reactivelock.faults;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.lettuce.LettuceLockBackend;
import io.github.reactivelock.quorum.QuorumLockBackend;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.state.LossReason;
import io.github.reactivelock.testservers.RedisServer;
import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** What a jump of a server's clock does to one Redis and to a quorum: exactly what is documented, and no more. */
final class ClockTrial {

    private static final Duration LEASE = Duration.ofSeconds(6);
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final List<String> wrong = new ArrayList<>();

    /** Prints what was seen; returns what should not have been. */
    static List<String> run(PrintStream out) throws IOException, InterruptedException {
        ClockTrial trial = new ClockTrial();
        trial.ahead(out);
        trial.back(out);
        trial.aheadInAQuorum(out);
        trial.wrong.forEach(out::println);
        return trial.wrong;
    }

    /** The lease ends early, and a second holder comes in until the first one's next renewal. */
    private void ahead(PrintStream out) throws IOException, InterruptedException {
        try (ShiftedRedis server = new ShiftedRedis()) {
            LockClient one = client(server);
            LockClient other = client(server);
            LockHandle first = get(one.acquire("a"));
            server.shift(Duration.ofSeconds(60));
            LockHandle second = get(other.acquire("a"));
            long overlap = System.nanoTime();
            expect(second.fencingToken() > first.fencingToken(), "the token did not rise over a jump ahead");
            LossReason reason = get(first.lost()).reason();
            Duration two = Duration.ofNanos(System.nanoTime() - overlap);
            out.println("clock +60 s: two holders for " + two.toMillis() + " ms, a third of the lease at most is "
                    + LEASE.dividedBy(3).toMillis());
            expect(
                    reason != LossReason.UNREACHABLE,
                    "the first holder was not told by its renewal, the overlap lasted " + two);
            expect(second.isHeld(), "the second holder lost the lock");
            end(second.release(), one, other);
        }
    }

    /** The holder's next renewal puts the lease right; tokens go on from the last one. */
    private void back(PrintStream out) throws IOException, InterruptedException {
        try (ShiftedRedis server = new ShiftedRedis()) {
            LockClient one = client(server);
            LockClient other = client(server);
            LockHandle first = get(one.acquire("a"));
            server.shift(Duration.ofHours(-1));
            var waiting = other.acquire("a").toFuture();
            Thread.sleep(LEASE.plusSeconds(1).toMillis());
            expect(first.isHeld() && !waiting.isDone(), "a jump back cost the holder its lock");
            get(first.release().thenReturn(true));
            LockHandle second = get(Mono.fromFuture(waiting));
            expect(second.fencingToken() > first.fencingToken(), "the token did not rise over a jump back");
            out.println("clock -1 h: the holder kept the lock, the next one's token is "
                    + (second.fencingToken() - first.fencingToken()) + " higher");
            end(second.release(), one, other);
        }
    }

    /** The node that is ahead has given its lock up, and the other four have the holder's. */
    private void aheadInAQuorum(PrintStream out) throws IOException, InterruptedException {
        List<RedisServer> others = Stream.generate(RedisServer::start).limit(4).toList();
        try (ShiftedRedis server = new ShiftedRedis()) {
            LockClient one = quorum(server, others);
            LockClient other = quorum(server, others);
            Retry patiently = Retry.fixedDelay(60, Duration.ofMillis(500));
            LockHandle first = get(one.acquire("a").retryWhen(patiently));
            server.shift(Duration.ofSeconds(60));
            var waiting = other.acquire("a").retryWhen(patiently).toFuture();
            Thread.sleep(LEASE.dividedBy(2).toMillis());
            expect(first.isHeld() && !waiting.isDone(), "a jump of one node's clock cost the holder its lock");
            get(first.release().thenReturn(true));
            LockHandle second = get(Mono.fromFuture(waiting));
            expect(second.fencingToken() > first.fencingToken(), "the token did not rise over a jump of one node");
            out.println("clock of one node of five +60 s: the holder kept the lock, no other client got it");
            end(second.release(), one, other);
        } finally {
            others.forEach(RedisServer::close);
        }
    }

    private static LockClient quorum(ShiftedRedis server, List<RedisServer> others) {
        QuorumNode[] nodes = Stream.concat(
                        Stream.of(server.uri()), others.stream().map(RedisServer::uri))
                .map(LettuceLockBackend::connect)
                .toArray(QuorumNode[]::new);
        return client(QuorumLockBackend.of(nodes).withLongestLease(LEASE).withNodeTimeout(Duration.ofSeconds(1)));
    }

    private static LockClient client(ShiftedRedis server) {
        return client(LettuceLockBackend.connect(server.uri()));
    }

    private static LockClient client(LockBackend backend) {
        return LockClient.builder(backend)
                .options(LockOptions.defaults().withLease(LEASE))
                // The first use loads a great many classes.
                .commandTimeout(Duration.ofSeconds(15))
                .build();
    }

    private static <T> T get(Mono<T> mono) {
        return Objects.requireNonNull(mono.block(LIMIT));
    }

    private static void end(Mono<Void> release, LockClient one, LockClient other) {
        release.then(one.close()).then(other.close()).block(LIMIT);
    }

    private void expect(boolean so, String otherwise) {
        if (!so) {
            wrong.add(otherwise);
        }
    }
}
