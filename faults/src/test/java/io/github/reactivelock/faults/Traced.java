package io.github.reactivelock.faults;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.consul.ConsulBackendOptions;
import io.github.reactivelock.consul.ConsulLockBackend;
import io.github.reactivelock.election.LeaderElection;
import io.github.reactivelock.etcd.EtcdBackendOptions;
import io.github.reactivelock.etcd.EtcdLockBackend;
import io.github.reactivelock.lettuce.LettuceLockBackend;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.quorum.QuorumLockBackend;
import io.github.reactivelock.r2dbc.AdvisoryLocks;
import io.github.reactivelock.r2dbc.Once;
import io.github.reactivelock.r2dbc.R2dbcBackendOptions;
import io.github.reactivelock.r2dbc.R2dbcFencingGuard;
import io.github.reactivelock.r2dbc.R2dbcLockBackend;
import io.github.reactivelock.r2dbc.RowLocks;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.vertx.VertxLockBackend;
import io.github.reactivelock.vertx.VertxLockClient;
import io.github.reactivelock.zookeeper.ZooKeeperBackendOptions;
import io.github.reactivelock.zookeeper.ZooKeeperLockBackend;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.baggage.Baggage;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.r2dbc.spi.ConnectionFactories;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** A program for a JVM with the agent of OpenTelemetry. It says what flows under locks saw of their traces. */
final class Traced {

    /** For hundreds of things under an agent, on a machine that is busy. */
    private static final Duration LIMIT = Duration.ofMinutes(3);

    private static final R2dbcBackendOptions PATIENT =
            R2dbcBackendOptions.defaults().withCommandTimeout(Lab.LIMIT);
    /** That of a client that is given none; a node of a quorum counts when it has been up for so long. */
    static final Duration LONGEST_LEASE = Duration.ofSeconds(30);

    private static final Tracer TRACER = GlobalOpenTelemetry.getTracer("traced");

    /** Work under a lock, in one of the forms in which it can be asked for. */
    private interface Form extends Function<Runnable, Mono<Object>> {}

    private Traced() {}

    public static void main(String[] args) {
        try {
            flows(args[0]);
            System.exit(0); // schedulers of users have threads that stay
        } catch (RuntimeException | Error failure) {
            failure.printStackTrace();
            System.exit(1);
        }
    }

    private static void flows(String address) {
        Map<String, Integer> seen = new TreeMap<>();
        Vertx vertx = Vertx.vertx();
        LockClient client = LockClient.builder(backend(address, vertx))
                .commandTimeout(Lab.LIMIT)
                .build();
        Span first = TRACER.spanBuilder("first").setNoParent().startSpan();
        System.out.println("first " + traceOf(first));
        run(first, client.withLock("first", Mono.just("done")));

        List<Form> forms = forms(client, vertx, address);
        List<Mono<Object>> flows = IntStream.range(0, 400)
                .mapToObj(i -> flow(
                        i, i / forms.size() % 4 != 1, forms.get(i % forms.size()), "form " + i % forms.size(), seen))
                .toList();
        Flux.merge(Flux.fromIterable(flows), flows.size(), 1).then().block(LIMIT);
        seen.forEach((what, times) -> System.out.println("saw " + what + " " + times));

        Duration lease = shortLease(address);
        LockClient renewing = client.with(LockOptions.defaults().withLease(lease));
        Span second = TRACER.spanBuilder("second").setNoParent().startSpan();
        // On a busy machine it may be lost at last; it was renewed a few times by then.
        run(
                second,
                renewing.withLock("held", Mono.delay(lease.multipliedBy(3))).onErrorComplete(LockLostException.class));
        client.close().block(LIMIT);
        Mono.fromCompletionStage(vertx.close().toCompletionStage()).block(LIMIT);
        System.out.println("done");
    }

    /** The first word says which, as {@link Backends} has it; their clients of other stores are patient. */
    private static LockBackend backend(String address, Vertx vertx) {
        String word = address.substring(0, address.indexOf(':'));
        String rest = address.substring(word.length() + 1);
        return switch (word) {
            case "redis" -> LettuceLockBackend.connect(address);
            case "users" -> LettuceLockBackend.using(RedisClient.create(), RedisURI.create(rest));
            case "vertx" -> VertxLockBackend.connect(vertx, rest);
            case "etcd" ->
                EtcdLockBackend.connect(
                        List.of(rest), EtcdBackendOptions.defaults().withCommandTimeout(Lab.LIMIT));
            case "zookeeper" ->
                ZooKeeperLockBackend.connect(
                        rest, ZooKeeperBackendOptions.defaults().withCommandTimeout(Lab.LIMIT));
            case "consul" ->
                ConsulLockBackend.connect(rest, ConsulBackendOptions.defaults().withCommandTimeout(Lab.LIMIT));
            case "quorum" ->
                QuorumLockBackend.of(Stream.of(rest.split(",", -1))
                                .map(LettuceLockBackend::connect)
                                .toArray(QuorumNode[]::new))
                        .withLongestLease(LONGEST_LEASE)
                        .withNodeTimeout(Lab.LIMIT);
            case "r2dbc" -> {
                R2dbcLockBackend backend = R2dbcLockBackend.connect(ConnectionFactories.get(address), PATIENT);
                backend.createTables().block(LIMIT);
                yield backend;
            }
            default -> InMemoryLockBackend.create();
        };
    }

    /** Consul has none that is shorter than ten seconds. */
    private static Duration shortLease(String address) {
        return Duration.ofSeconds(address.startsWith("consul:") ? 10 : 4);
    }

    private static String traceOf(Span span) {
        return span.getSpanContext().getTraceId();
    }

    private static void run(Span span, Mono<?> flow) {
        Scope scope = span.makeCurrent();
        try {
            flow.then().block(LIMIT);
        } finally {
            scope.close();
            span.end();
        }
    }

    private static List<Form> forms(LockClient client, Vertx vertx, String address) {
        List<Form> forms = new ArrayList<>(ofLocks(client, address));
        forms.addAll(ofQuestions(client));
        forms.addAll(ofVertx(
                VertxLockClient.create(vertx, client),
                VertxLockClient.create(vertx, client(address, vertx, Schedulers.immediate()))));
        forms.addAll(onSchedulersOfTheUser(address, vertx));
        if (address.startsWith("r2dbc:")) {
            forms.addAll(ofSql(address));
        }
        if (address.startsWith("r2dbc:postgresql:")) {
            forms.addAll(ofAdvisoryLocks(address));
        }
        return forms;
    }

    private static List<Form> ofSql(String address) {
        RowLocks rows = RowLocks.using(ConnectionFactories.get(address), LIMIT, PATIENT);
        Once once = Once.using(ConnectionFactories.get(address), PATIENT);
        R2dbcFencingGuard guard = R2dbcLockBackend.connect(ConnectionFactories.get(address), PATIENT)
                .fencingGuard();
        AtomicInteger keys = new AtomicInteger();
        AtomicInteger tokens = new AtomicInteger();
        return List.of(
                look -> rows.withRowLock("row", connection -> seenBy(look, work(look))),
                look -> once.run("once" + keys.incrementAndGet(), LIMIT, work(look)),
                look -> guard.write("resource " + tokens.incrementAndGet(), 1, connection -> seenBy(look, work(look))),
                look -> guard.writeShared("shared", 1, connection -> seenBy(look, work(look))));
    }

    /** Each has a lock of its own: none waits for another, and who finds it taken has no work to look from. */
    private static List<Form> ofAdvisoryLocks(String address) {
        AdvisoryLocks advisory = AdvisoryLocks.using(ConnectionFactories.get(address), PATIENT);
        AtomicInteger keys = new AtomicInteger();
        return List.of(
                look -> advisory.tryWithLock(
                        "advisory" + keys.incrementAndGet(), connection -> seenBy(look, work(look))),
                look -> advisory.tryWithSessionLock("session" + keys.incrementAndGet(), work(look)));
    }

    private static List<Form> ofLocks(LockClient client, String address) {
        LockClient shared = client.shared();
        LockClient permits = address.startsWith("quorum:") ? shared : client.permits(1, 2); // it has none
        return List.of(
                look -> client.withLock("a", work(look)),
                look -> client.withLock("b", held -> seenBy(look, work(look))),
                look -> client.withLockMany("c", held -> seenBy(look, work(look).concatWith(work(look))))
                        .last(),
                look -> client.withLock(List.of("a", "b"), work(look)),
                look -> client.tryWithLock("c", work(look), work(look)),
                look -> client.withLock("a", client.withLock("b", work(look))),
                look -> shared.withLock("d", work(look)),
                look -> permits.withLock("e", work(look)),
                look -> client.acquire("b").flatMap(held -> release(held, seenBy(look, work(look)))));
    }

    private static LockClient client(String address, Vertx vertx, Scheduler work) {
        return LockClient.builder(backend(address, vertx))
                .workScheduler(work)
                .commandTimeout(Lab.LIMIT)
                .build();
    }

    private static List<Form> onSchedulersOfTheUser(String address, Vertx vertx) {
        return List.of(
                        Schedulers.newBoundedElastic(4, 100_000, "elastic"),
                        Schedulers.newParallel("parallel", 2),
                        Schedulers.fromExecutorService(Executors.newFixedThreadPool(4)))
                .stream()
                .map(work -> client(address, vertx, work))
                .<Form>map(client -> look -> client.withLock("f", work(look)))
                .toList();
    }

    private static List<Form> ofQuestions(LockClient client) {
        return List.of(
                look -> client.events("a")
                        .takeUntil(event -> event instanceof LockEvent.Acquired)
                        .doOnNext(event -> look.run())
                        .flatMap(event -> event instanceof LockEvent.Snapshot
                                ? client.withLock("a", work(look))
                                : Mono.just(event))
                        .last(),
                look -> client.acquire("g")
                        .flatMap(held -> Mono.firstWithSignal(
                                        held.lost().doOnSuccess(end -> look.run()),
                                        held.release().then(Mono.never()))
                                .thenReturn("done")),
                look -> client.awaitRelease("a").thenReturn("done"),
                look -> client.inspect("a").thenReturn("done"),
                look -> LeaderElection.of(client, "elected").leadOnce(term -> seenBy(look, work(look))),
                look -> client.isCurrent("a", 1024).thenReturn("done"));
    }

    private static List<Form> ofVertx(VertxLockClient... clients) {
        List<Form> forms = new ArrayList<>();
        for (VertxLockClient client : clients) {
            forms.add(look -> mono(() -> client.withLock("v", () -> seenBy(look, later()))));
            forms.add(look -> mono(() -> client.acquire("w").compose(held -> seenBy(look, held.release()))));
            forms.add(look ->
                    mono(() -> client.withLock("v", () -> seenBy(look, later())).onComplete(end -> look.run())));
        }
        return forms;
    }

    private static Future<Object> later() {
        Promise<Object> promise = Promise.promise();
        var unused = Vertx.currentContext().owner().setTimer(1, now -> promise.complete("done"));
        return promise.future();
    }

    private static <T> Mono<Object> mono(Supplier<Future<T>> future) {
        return Mono.defer(() -> Mono.fromCompletionStage(future.get().toCompletionStage()))
                .thenReturn("done");
    }

    private static Mono<Object> release(LockHandle held, Mono<Object> work) {
        return work.flatMap(value -> held.release().thenReturn(value));
    }

    private static <T> T seenBy(Runnable look, T value) {
        look.run();
        return value;
    }

    private static Mono<Object> work(Runnable look) {
        return Mono.<Object>fromCallable(() -> seenBy(look, "done"))
                .delayElement(Duration.ofMillis(1))
                .doOnNext(value -> look.run());
    }

    /** A flow without a trace may see none. */
    private static Mono<Object> flow(int number, boolean isTraced, Form form, String name, Map<String, Integer> seen) {
        return Mono.<Object>create(sink -> {
                    Span span =
                            isTraced ? TRACER.spanBuilder("flow").setNoParent().startSpan() : Span.getInvalid();
                    String user = isTraced ? "user " + number : "none";
                    Consumer<String> look = where -> note(seen, where, traceOf(span), user);
                    Context own = isTraced
                            ? Context.root()
                                    .with(span)
                                    .with(Baggage.builder().put("user", user).build())
                            : Context.root();
                    Scope scope = own.makeCurrent();
                    try {
                        var unusedSink = sink.onDispose(form.apply(() -> look.accept(name))
                                .doOnNext(value -> look.accept(name + " afterwards"))
                                .doFinally(signal -> span.end())
                                .subscribe(sink::success, sink::error));
                    } finally {
                        scope.close();
                    }
                })
                .subscribeOn(Schedulers.boundedElastic());
    }

    private static void note(Map<String, Integer> seen, String where, String trace, String user) {
        String now = Baggage.current().getEntryValue("user");
        boolean isOwn = traceOf(Span.current()).equals(trace) && user.equals(now == null ? "none" : now);
        synchronized (seen) {
            seen.merge((isOwn ? "its own in " : "ANOTHER'S in ") + where, 1, Integer::sum);
        }
    }
}
