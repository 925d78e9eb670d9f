package io.github.reactivelock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockTimeoutException;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.election.LeaderElection;
import io.github.reactivelock.spi.FencingTokens;
import io.github.reactivelock.spi.LockPage;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.micrometer.context.ContextRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.test.scheduler.VirtualTimeScheduler;

/**
 * User code that blocks, schedulers that refuse, and settings that an application makes for the whole process. None of
 * them reaches another lock, the driver's threads or another flow.
 */
abstract class SurroundingsCases extends Cases {

    private static final String USER_KEY = "reactivelock.contract.user";
    private static final ThreadLocal<String> USER = new ThreadLocal<>();
    private static final int MORE_THAN_PROCESSORS = 4 * Runtime.getRuntime().availableProcessors();

    SurroundingsCases(LockBackendContract contract) {
        super(contract);
    }

    /** Not a thread of the driver, of the timer, or of the caller. */
    private static boolean isOwn(Thread thread) {
        return thread.getName().startsWith("reactive-lock-work-");
    }

    private static Mono<Object> untilCancelled(Runnable begun, Runnable cancelled) {
        return Mono.never().doOnSubscribe(subscription -> begun.run()).doOnCancel(cancelled);
    }

    @Test
    void aCancelHandlerThatBlocksDelaysTheEndOfItsOwnLockOnly() {
        FaultyBackend backend = faulty();
        LockClient client = client(backend).with(renewed());
        LockClient other = client();
        CountDownLatch working = new CountDownLatch(2);
        CountDownLatch blocking = new CountDownLatch(1);
        CountDownLatch blocked = new CountDownLatch(1);
        CompletableFuture<Object> slow = client.withLock(key, untilCancelled(working::countDown, () -> {
                    blocked.countDown();
                    Await.open(blocking);
                }))
                .toFuture();
        String second = key("second");
        CompletableFuture<Object> innocent = client.withLock(second, untilCancelled(working::countDown, () -> {}))
                .toFuture();
        Await.open(working);
        Await.run(other.forceRelease(key));
        Await.open(blocked);

        int renewals = backend.renewals();
        Await.until("the other lock is renewed", () -> backend.renewals() >= renewals + 3);
        assertThat(innocent).as("keeps its lock").isNotDone();
        Await.run(Await.get(client.acquire(key("third"))).release());
        Await.run(other.forceRelease(second));
        assertThat(Await.error(innocent)).isInstanceOf(LockLostException.class);
        assertThat(slow).as("its handler still runs").isNotDone();

        blocking.countDown();
        assertThat(Await.error(slow)).isInstanceOf(LockLostException.class);
    }

    @Test
    void noUserCodeRunsOnAThreadOfDriverOrTimer() {
        Queue<Thread> used = new ConcurrentLinkedQueue<>();
        Runnable note = () -> used.add(Thread.currentThread());
        LockOptions brief = renewed().withMaxHold(Duration.ofSeconds(2)); // in which its work begins
        LockClient client = client();
        LockClient other = client();

        LockHandle first = Await.get(other.acquire(key));
        CompletableFuture<String> pushed = client.withLock(
                        key, Mono.fromSupplier(() -> "done").doOnNext(value -> note.run()))
                .doFinally(signal -> note.run())
                .toFuture();
        untilQueued(other, key, 1);
        Await.run(first.release());
        Await.done(pushed);
        Throwable tooLong = Await.error(client.with(brief)
                .withLock(key, untilCancelled(note, note))
                .doOnError(lost -> note.run())
                .toFuture());
        CountDownLatch working = new CountDownLatch(1);
        // Where the store does not push a forced release, a renewal finds it.
        CompletableFuture<Object> forced = client.with(shortLease())
                .withLock(key, untilCancelled(working::countDown, note))
                .doOnError(lost -> note.run())
                .toFuture();
        Await.open(working);
        Await.run(other.forceRelease(key));

        assertThat(List.of(tooLong, Await.error(forced)))
                .allSatisfy(failure -> assertThat(failure).isInstanceOf(LockLostException.class));
        Await.until("all have noted their thread", () -> used.size() == 7);
        assertThat(used).allMatch(SurroundingsCases::isOwn);
    }

    @Test
    void aWorkSchedulerThatRefusesIsReplacedAndNotBypassed() {
        Scheduler full = disposedAtTheEnd(Schedulers.fromExecutorService(
                new ThreadPoolExecutor(1, 1, 1, TimeUnit.MINUTES, new ArrayBlockingQueue<>(1))));
        CountDownLatch busy = new CountDownLatch(1);
        List<Disposable> blocking =
                List.of(full.schedule(() -> Await.open(busy)), full.schedule(() -> Await.open(busy)));
        LockClient client = client(contract.newBackend(), settings -> settings.workScheduler(full));
        Queue<Thread> used = new ConcurrentLinkedQueue<>();

        Await.run(client.withLock(key, Mono.fromRunnable(() -> used.add(Thread.currentThread()))));

        assertThat(used).hasSize(1).allMatch(SurroundingsCases::isOwn);
        busy.countDown();
        Await.until("its threads are free again", () -> blocking.stream().allMatch(Disposable::isDisposed));
    }

    @Test
    void flowsThatBlockDelayThemselvesOnly() {
        LockClient client = client();
        LockClient other = client().with(shortLease());
        CountDownLatch working = new CountDownLatch(MORE_THAN_PROCESSORS);
        CountDownLatch blocking = new CountDownLatch(1);
        List<CompletableFuture<Object>> busy = IntStream.range(0, MORE_THAN_PROCESSORS)
                .mapToObj(i -> client.withLock(key("busy" + i), Mono.fromRunnable(() -> {
                            working.countDown();
                            Await.open(blocking);
                        }))
                        .toFuture())
                .toList();
        Await.open(working);

        CountDownLatch holding = new CountDownLatch(1);
        CompletableFuture<Object> losing = other.withLock(key, untilCancelled(holding::countDown, () -> {}))
                .toFuture();
        Await.open(holding);
        Await.run(client.forceRelease(key));
        assertThat(Await.error(losing)).isInstanceOf(LockLostException.class);
        assertThat(busy).noneMatch(CompletableFuture::isDone);

        blocking.countDown();
        busy.forEach(Await::done);
    }

    /** As tasks do that block or compute for longer than a lease. */
    @Test
    void anApplicationThatKeepsAllThreadsOfReactorsSchedulersDelaysNoLock() {
        whereReactorsSchedulersAre(new Kept());
    }

    /**
     * As a test of the application does, which moves its virtual time by hours. Drivers open connections by their own
     * timers.
     */
    @Test
    void virtualTimeThatATestHasInstalledNeitherStopsNorHastensALock() {
        FaultyBackend backend = faulty();
        LockClient client = client(backend);
        LockClient other = client();
        whatLocksDoTakesPlace(backend, client, other);
        VirtualTimeScheduler virtual = VirtualTimeScheduler.create();
        ScheduledExecutorService moving = Executors.newSingleThreadScheduledExecutor();
        VirtualTimeScheduler.set(virtual);
        Future<?> moves = moving.scheduleAtFixedRate(
                () -> virtual.advanceTimeBy(Duration.ofHours(1)), 1, 1, TimeUnit.MILLISECONDS);
        try {
            whatLocksDoTakesPlace(backend, client, other);
        } finally {
            assertThat(moves.cancel(false)).as("time went on moving").isTrue();
            moving.shutdown();
            VirtualTimeScheduler.reset();
        }
    }

    private void whereReactorsSchedulersAre(Schedulers.Factory others) {
        Schedulers.setFactory(others);
        try {
            FaultyBackend backend = faulty();
            whatLocksDoTakesPlace(backend, client(backend), client());
        } finally {
            Schedulers.resetFactory();
        }
    }

    /** A wait, its end, renewals past the end of a lease, a grant to one that waits, a loss. */
    private void whatLocksDoTakesPlace(FaultyBackend backend, LockClient client, LockClient other) {
        LockOptions renewed = DEFAULTS.withLease(contract.shortLease().multipliedBy(2));
        LockHandle held = Await.get(client.with(renewed).acquire(key));
        assertThat(Await.error(other.with(DEFAULTS.withWaitTimeout(Duration.ofMillis(100)))
                        .acquire(key)
                        .toFuture()))
                .as("the end of a wait, by a store that may take longer to answer")
                .isInstanceOfAny(LockTimeoutException.class, LockUnavailableException.class);
        CompletableFuture<LockHandle> waiting =
                other.with(shortLease()).acquire(key).toFuture();
        untilQueued(client, key, 1);

        int renewals = backend.renewals();
        Await.until("the lock is renewed for longer than a lease", () -> backend.renewals() >= renewals + 4);
        assertThat(held.isHeld()).isTrue();
        assertThat(waiting).isNotDone();
        Await.run(held.release());
        LockHandle next = Await.get(waiting);
        CompletableFuture<LockLostException> lost = next.lost().toFuture();
        Await.run(client.forceRelease(key));

        assertThat(Await.get(lost).key()).isEqualTo(key);
    }

    /** Schedulers of which all threads are kept by tasks. */
    private static final class Kept implements Schedulers.Factory {

        @Override
        public Scheduler newBoundedElastic(int threads, int tasks, ThreadFactory factory, int seconds) {
            return new NeverRuns();
        }

        @Override
        public Scheduler newParallel(int threads, ThreadFactory factory) {
            return new NeverRuns();
        }

        @Override
        public Scheduler newSingle(ThreadFactory factory) {
            return new NeverRuns();
        }
    }

    private static final class NeverRuns implements Scheduler {

        @Override
        public Disposable schedule(Runnable task) {
            return Disposables.single();
        }

        @Override
        public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
            return Disposables.single();
        }

        @Override
        public Disposable schedulePeriodically(Runnable task, long delay, long period, TimeUnit unit) {
            return Disposables.single();
        }

        @Override
        public Worker createWorker() {
            Disposable.Composite tasks = Disposables.composite();
            return new Worker() {
                @Override
                public Disposable schedule(Runnable task) {
                    return Disposables.single();
                }

                @Override
                public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
                    return Disposables.single();
                }

                @Override
                public void dispose() {
                    tasks.dispose();
                }

                @Override
                public boolean isDisposed() {
                    return tasks.isDisposed();
                }
            };
        }
    }

    @Test
    void everyFlowSeesItsOwnThreadLocalsWhereReactorPropagatesThem() {
        assertThat(seenWrongWhereReactorPropagates(List.of(client(), client()))).isEmpty();
    }

    /** As agents make executors; Reactor puts nothing in place of what such a task brings along. */
    @Test
    void eachFlowSeesItsOwnThreadLocalsWhereReactorPropagatesThem() {
        Scheduler elastic = disposedAtTheEnd(Schedulers.newBoundedElastic(4, 1000, "taking-along"));
        LockClient client =
                client(contract.newBackend(), settings -> settings.workScheduler(Carrying.takingAlong(elastic, USER)));

        assertThat(seenWrongWhereReactorPropagates(List.of(client, client))).isEmpty();
    }

    /** Every fourth flow is of no user. */
    private Queue<String> seenWrongWhereReactorPropagates(List<LockClient> clients) {
        Queue<String> wrong = new ConcurrentLinkedQueue<>();
        CountDownLatch noted = new CountDownLatch(60);
        ContextRegistry.getInstance().registerThreadLocalAccessor(USER_KEY, USER);
        Hooks.enableAutomaticContextPropagation();
        try {
            Await.run(Flux.range(0, 60)
                    .flatMap(
                            i -> {
                                String own = i % 4 == 0 ? null : "user " + i;
                                return clients.get(i % 2)
                                        .withLock(key, held -> {
                                            note(wrong, i, own);
                                            return Mono.fromRunnable(() -> note(wrong, i, own));
                                        })
                                        .doFinally(signal -> {
                                            note(wrong, i, own);
                                            noted.countDown();
                                        })
                                        .contextWrite(context -> own == null ? context : context.put(USER_KEY, own))
                                        .subscribeOn(Schedulers.boundedElastic());
                            },
                            30)
                    .then());
            Await.open(noted); // the last flow is over before it notes that
        } finally {
            Hooks.disableAutomaticContextPropagation();
            ContextRegistry.getInstance().removeThreadLocalAccessor(USER_KEY);
        }
        return wrong;
    }

    private static <T> Mono<T> failing() {
        return Mono.just("an answer").map(answer -> {
            throw new IllegalStateException("cannot be read");
        });
    }

    /** As an application does to one operator of its own: the Context brings it to all that lie above. */
    private static Throwable continued(Publisher<?> source) {
        return Await.error(
                Flux.from(source).onErrorContinue((error, value) -> {}).then().toFuture());
    }

    @Test
    void anErrorThatDecidesIsNotContinuedBySubscribers() {
        LockClient client = client(new ForwardingBackend(contract.newBackend()) {
            @Override
            public Mono<LockInfo> inspect(String asked) {
                return failing();
            }

            @Override
            public Mono<LockPage> list(String prefix, String from) {
                return failing();
            }

            @Override
            public Flux<LockEvent> events(String asked) {
                return super.events(asked).concatMap(event -> failing());
            }

            @Override
            public Mono<Boolean> forceRelease(String asked, long fencingToken) {
                return failing();
            }
        });

        assertThat(List.of(
                        continued(client.inspect(key)),
                        continued(client.list(key)),
                        continued(client.awaitRelease(key)),
                        continued(client.events(key)),
                        continued(client.forceRelease(key)),
                        continued(client.forceRelease(key, FencingTokens.of(5)))))
                .allSatisfy(error -> assertThat(error).isInstanceOf(LockUnavailableException.class));
    }

    @Test
    void workOfALeaderThatFailsIsNotContinuedBySubscribers() {
        LeaderElection election = LeaderElection.of(client(), key);

        assertThat(List.of(
                        continued(election.leadOnce(term -> failing())), continued(election.lead(term -> failing()))))
                .allSatisfy(error -> assertThat(error).hasMessage("cannot be read"));

        Await.run(Await.get(client().acquire(key)).release());
    }

    private static void note(Queue<String> wrong, int flow, @Nullable String own) {
        if (!Objects.equals(own, USER.get())) {
            wrong.add("flow " + flow + " saw " + USER.get());
        }
    }

    /** Every fourth flow is of no user. */
    @Test
    void everyFlowSeesWhatItsThreadCarriedWhereHooksOnOperatorsKeepIt() {
        Queue<String> wrong = new ConcurrentLinkedQueue<>();
        List<LockClient> clients = List.of(client(), client());
        String second = key("second");
        Carrying.hook(USER);
        try {
            List<CompletableFuture<Object>> flows = IntStream.range(0, 36)
                    .mapToObj(i -> {
                        String own = i % 4 == 0 ? null : "user " + i;
                        Runnable look = () -> note(wrong, i, own);
                        return Carrying.with(
                                USER,
                                own,
                                () -> inOneOfManyForms(i / 2, clients.get(i % 2), second, look)
                                        .doOnNext(value -> look.run())
                                        .doFinally(signal -> look.run())
                                        .toFuture());
                    })
                    .toList();
            flows.forEach(Await::done);
        } finally {
            Carrying.unhook();
        }

        assertThat(wrong).isEmpty();
    }

    private Mono<Object> inOneOfManyForms(int form, LockClient client, String second, Runnable look) {
        Mono<Object> work = Mono.<Object>fromCallable(() -> {
                    look.run();
                    return "done";
                })
                .delayElement(Duration.ofMillis(1))
                .doOnNext(value -> look.run());
        return switch (form % 6) {
            case 0 -> client.withLock(key, work);
            case 1 ->
                client.withLock(key, held -> {
                    look.run();
                    return work;
                });
            case 2 ->
                client.withLockMany(key, held -> {
                            look.run();
                            return work.concatWith(work);
                        })
                        .doOnNext(value -> look.run())
                        .last();
            case 3 -> client.withLock(List.of(key, second), work);
            case 4 -> client.tryWithLock(key, work, work);
            default -> client.withLock(key, client.withLock(key, work).doOnNext(value -> look.run()));
        };
    }

    /** As agents make executors, and as their hooks are: what is kept is set, and nothing is not. */
    @Test
    void aFlowThatCarriesNothingSeesNothingOnASchedulerOfTheUser() {
        Queue<String> wrong = new ConcurrentLinkedQueue<>();
        Scheduler elastic = disposedAtTheEnd(Schedulers.newBoundedElastic(4, 1000, "taking-along"));
        List<LockClient> clients = Stream.of(elastic, disposedAtTheEnd(Schedulers.newSingle("taking-along-one")))
                .map(place -> client(
                        contract.newBackend(), settings -> settings.workScheduler(Carrying.takingAlong(place, USER))))
                .toList();
        Carrying.hookOfValues(USER);
        try {
            List<CompletableFuture<Object>> flows = IntStream.range(0, 36)
                    .mapToObj(i -> {
                        String own = i % 2 == 0 ? null : "user " + i;
                        Runnable look = () -> note(wrong, i, own);
                        LockClient client = clients.get(i % 3 % 2);
                        return Carrying.with(
                                USER,
                                own,
                                () -> inOneOfManyForms(i / 2, client, key("second"), look)
                                        .doOnNext(value -> look.run())
                                        .doFinally(signal -> look.run())
                                        .toFuture());
                    })
                    .toList();
            flows.forEach(Await::done);
        } finally {
            Carrying.unhook();
        }

        assertThat(wrong).isEmpty();
    }

    @Test
    void workThatLosesItsLockIsCancelledWithWhatItsThreadCarried() {
        Queue<String> seen = new ConcurrentLinkedQueue<>();
        LockClient client = client().with(shortLease());
        LockClient other = client();
        CountDownLatch working = new CountDownLatch(1);
        Runnable note = () -> seen.add(String.valueOf(USER.get()));
        Carrying.hook(USER);
        try {
            CompletableFuture<Object> losing = Carrying.with(
                    USER,
                    "mine",
                    () -> client.withLock(key, untilCancelled(working::countDown, note))
                            .doOnError(loss -> note.run())
                            .toFuture());
            Await.open(working);
            Await.done(Carrying.with(
                    USER, "another's", () -> other.forceRelease(key).toFuture()));
            assertThat(Await.error(losing)).isInstanceOf(LockLostException.class);
        } finally {
            Carrying.unhook();
        }

        assertThat(seen).containsExactly("mine", "mine");
    }

    @Test
    void whatTheClientDoesForItselfCarriesNothingOfTheFlowThatCausedIt() {
        Queue<String> carried = new ConcurrentLinkedQueue<>();
        Runnable note = () -> carried.add(String.valueOf(USER.get()));
        FaultyBackend backend = new FaultyBackend(new ForwardingBackend(contract.newBackend()) {
            @Override
            public Flux<Signal> signals() {
                note.run();
                return super.signals().doOnNext(signal -> note.run());
            }
        });
        backend.onRenewal(command -> {
            note.run();
            return command.doFinally(end -> note.run());
        });
        LockClient client = client(backend).with(shortLease());
        Carrying.hook(USER);
        try {
            LockHandle first = Await.get(
                    Carrying.with(USER, "first", () -> client.acquire(key).toFuture()));
            Await.until("it is renewed", () -> backend.renewals() >= 3);
            Await.run(first.release().onErrorComplete(LockLostException.class)); // by a busy machine
        } finally {
            Carrying.unhook();
        }

        assertThat(carried).hasSizeGreaterThan(3).containsOnly("null");
    }

    @Test
    void theDebugHookBlamesTheCallerOfWithLock() {
        LockClient client = client();
        Throwable failure;
        Hooks.onOperatorDebug();
        try {
            failure = Await.error(client.withLock(key, Mono.error(() -> new IllegalStateException("the work failed")))
                    .toFuture());
        } finally {
            Hooks.resetOnOperatorDebug();
        }

        assertThat(failure).hasMessage("the work failed");
        assertThat(failure.getSuppressed())
                .anySatisfy(trace -> assertThat(trace).hasMessageContaining(SurroundingsCases.class.getSimpleName()));
    }
}
