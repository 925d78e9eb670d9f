package io.github.reactivelock.examples.threads;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.blocking.BlockingLockClient;
import io.github.reactivelock.examples.Launcher;
import io.github.reactivelock.examples.Print;
import io.github.reactivelock.examples.RedisOption;
import io.github.reactivelock.lettuce.LettuceLockBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The command: sells tickets on threads that block, without and with a lock, and takes a lock away from one. */
@Command(
        name = "examples/run virtual-threads",
        description =
                "Two instances sell tickets on 1,000 virtual threads that block, first without and then with a lock."
                        + " Then a lock is taken away from a thread, which is interrupted.",
        usageHelpAutoWidth = true)
public final class VirtualThreads implements Callable<Integer> {

    private static final int JAVA = Runtime.version().feature();
    private static final boolean VIRTUAL = JAVA >= 21;
    /** Of the system there cannot be as many. */
    private static final int THREADS = VIRTUAL ? 1_000 : 100;

    private static final String REPORT = "report";

    @Option(names = "--demo", description = "no effect: this example always ends by itself")
    private boolean unused;

    @Mixin
    private final RedisOption redis = new RedisOption();

    private VirtualThreads() {}

    /** One sale, on a thread that may block. */
    private interface Sale {
        void sell(BlockingLockClient locks) throws Exception;
    }

    /**
     * Runs the example and ends the JVM: 0 if each ticket was counted under the lock and the loss ended the work, 1 if
     * not, 2 if the arguments are wrong.
     *
     * @param args the options
     */
    public static void main(String[] args) {
        Launcher.run(new VirtualThreads(), args);
    }

    @Override
    public Integer call() {
        return redis.use(uri -> Mono.usingWhen(
                        client("instance-1", uri),
                        first -> Mono.usingWhen(
                                client("instance-2", uri),
                                second -> Mono.fromCallable(() -> show(uri, first, second))
                                        .subscribeOn(Schedulers.boundedElastic()),
                                LockClient::close),
                        LockClient::close))
                .blockOptional()
                .orElseThrow();
    }

    private static Mono<LockClient> client(String name, String uri) {
        return Mono.fromSupplier(() -> LockClient.builder(LettuceLockBackend.connect(uri))
                .name(name)
                .commandTimeout(Duration.ofSeconds(10))
                .build());
    }

    private static int show(String uri, LockClient first, LockClient second) throws Exception {
        if (VIRTUAL) {
            Print.line(
                    "two instances sell a ticket on each of %d virtual threads, and read before they write", THREADS);
        } else {
            Print.line(
                    "Java %d has no virtual threads, so two instances sell a ticket on each of %d of the system",
                    JAVA, THREADS);
        }
        List<BlockingLockClient> instances = List.of(BlockingLockClient.of(first), BlockingLockClient.of(second));
        try (SimpleAsyncTaskExecutor threads = new SimpleAsyncTaskExecutor("sale-");
                Tickets tickets = Tickets.connect(uri)) {
            threads.setVirtualThreads(VIRTUAL);
            boolean unused = sell("without a lock", tickets, threads, instances, locks -> tickets.sell());
            boolean exact =
                    sell("with a lock", tickets, threads, instances, locks -> locks.withLock("tickets", tickets::sell));
            return exact && isInterruptedByALoss(threads, instances.get(0), second) ? 0 : 1;
        }
    }

    private static boolean sell(
            String how, Tickets tickets, SimpleAsyncTaskExecutor threads, List<BlockingLockClient> instances, Sale sale)
            throws Exception {
        tickets.begin();
        List<Future<?>> sales = new ArrayList<>(THREADS);
        for (int i = 0; i < THREADS; i++) {
            BlockingLockClient locks = instances.get(i % instances.size());
            sales.add(threads.submit(() -> {
                sale.sell(locks);
                return true;
            }));
        }
        for (Future<?> each : sales) {
            each.get();
        }
        int sold = tickets.sold();
        Print.line("%s: sold=%d counted=%d most-at-once=%d", how, THREADS, sold, tickets.mostAtOnce());
        return sold == THREADS && tickets.mostAtOnce() == 1;
    }

    private static boolean isInterruptedByALoss(
            SimpleAsyncTaskExecutor threads, BlockingLockClient locks, LockClient operator) throws Exception {
        CompletableFuture<Long> begun = new CompletableFuture<>();
        Future<Boolean> report = threads.submit(() -> isLost(locks, begun));
        Print.line("a report is written under token %d, and the operator takes its lock away", begun.get());
        Boolean ended = operator.forceRelease(REPORT).block();
        return Boolean.TRUE.equals(ended) && report.get();
    }

    private static boolean isLost(BlockingLockClient locks, CompletableFuture<Long> begun) throws Exception {
        try {
            locks.withLock(REPORT, held -> {
                begun.complete(held.fencingToken());
                write();
                return true;
            });
            return false;
        } catch (LockLostException loss) {
            Print.line("  its caller gets LockLostException: %s, token %d", loss.reason(), loss.fencingToken());
            return true;
        }
    }

    /** Takes for ever, unless the thread is interrupted. */
    private static void write() throws InterruptedException {
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException e) {
            Print.line("  its thread is interrupted");
            throw e;
        }
    }
}
