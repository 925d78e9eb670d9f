package io.github.reactivelock.vertx;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.election.LeaderElection;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.vertx.core.Closeable;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.VertxInternal;
import io.vertx.core.streams.ReadStream;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.ContextView;

/** The engine's client, seen from Vert.x contexts: it takes every result to the caller's context. */
final class ContextLockClient implements VertxLockClient {

    private final VertxInternal vertx;
    private final LockClient locks;
    private final ContextInternal creator;
    private final Closeable hook;

    private ContextLockClient(VertxInternal vertx, LockClient locks, ContextInternal creator, Closeable hook) {
        this.vertx = vertx;
        this.locks = locks;
        this.creator = creator;
        this.hook = hook;
    }

    static VertxLockClient create(Vertx vertx, LockBackend backend) {
        // Every callback goes to a Vert.x context at once, so an earlier hop to another thread would be wasted.
        return create(
                vertx,
                LockClient.builder(backend)
                        .workScheduler(Schedulers.immediate())
                        .build());
    }

    static VertxLockClient create(Vertx vertx, LockClient locks) {
        Objects.requireNonNull(locks, "locks");
        VertxInternal internal = (VertxInternal) vertx;
        ContextInternal creator = internal.getOrCreateContext();
        HeldContext.check(creator);
        Closeable hook = closed -> {
            future(creator, locks.close()).onComplete(closed);
        };
        creator.addCloseHook(hook);
        return new ContextLockClient(internal, locks, creator, hook);
    }

    @Override
    public VertxLockClient with(LockOptions options) {
        return view(locks.with(options));
    }

    @Override
    public VertxLockClient shared() {
        return view(locks.shared());
    }

    @Override
    public VertxLockClient permits(int permits, int capacity) {
        return view(locks.permits(permits, capacity));
    }

    private VertxLockClient view(LockClient changed) {
        return new ContextLockClient(vertx, changed, creator, hook);
    }

    @Override
    public <T> Future<T> withLock(String key, Supplier<Future<T>> work) {
        Objects.requireNonNull(work, "work");
        return withLock(key, held -> work.get());
    }

    @Override
    public <T> Future<T> withLock(String key, Function<VertxLockHandle, Future<T>> work) {
        Objects.requireNonNull(work, "work");
        ContextInternal caller = vertx.getOrCreateContext();
        return future(
                caller,
                locks.withLock(key, held -> below(caller, List.of(held), handles -> work.apply(handles.get(0)))));
    }

    @Override
    public <T> Future<T> withLock(Collection<String> keys, Supplier<Future<T>> work) {
        Objects.requireNonNull(work, "work");
        return withLock(keys, (List<VertxLockHandle> held) -> work.get());
    }

    @Override
    public <T> Future<T> withLock(Collection<String> keys, Function<List<VertxLockHandle>, Future<T>> work) {
        Objects.requireNonNull(work, "work");
        ContextInternal caller = vertx.getOrCreateContext();
        return future(caller, locks.withLock(keys, (List<LockHandle> held) -> below(caller, held, work)));
    }

    @Override
    public <T> Future<T> tryWithLock(String key, Supplier<Future<T>> work, Supplier<Future<T>> ifTaken) {
        Objects.requireNonNull(work, "work");
        return tryWithLock(key, held -> work.get(), ifTaken);
    }

    @Override
    public <T> Future<T> tryWithLock(
            String key, Function<VertxLockHandle, Future<T>> work, Supplier<Future<T>> ifTaken) {
        Objects.requireNonNull(work, "work");
        ContextInternal caller = vertx.getOrCreateContext();
        return future(
                caller,
                locks.tryWithLock(
                        key,
                        held -> below(caller, List.of(held), handles -> work.apply(handles.get(0))),
                        on(caller, ifTaken)));
    }

    @Override
    public <T> Future<T> tryWithLock(Collection<String> keys, Supplier<Future<T>> work, Supplier<Future<T>> ifTaken) {
        Objects.requireNonNull(work, "work");
        return tryWithLock(keys, (List<VertxLockHandle> held) -> work.get(), ifTaken);
    }

    @Override
    public <T> Future<T> tryWithLock(
            Collection<String> keys, Function<List<VertxLockHandle>, Future<T>> work, Supplier<Future<T>> ifTaken) {
        Objects.requireNonNull(work, "work");
        ContextInternal caller = vertx.getOrCreateContext();
        return future(
                caller,
                locks.tryWithLock(keys, (List<LockHandle> held) -> below(caller, held, work), on(caller, ifTaken)));
    }

    @Override
    public Future<VertxLockHandle> acquire(String key) {
        return future(locks.acquire(key).map(this::handle));
    }

    @Override
    public Future<@Nullable VertxLockHandle> tryAcquire(String key) {
        return future(locks.tryAcquire(key).map(this::handle));
    }

    @Override
    public Future<Void> ready() {
        return future(locks.ready());
    }

    @Override
    public Optional<String> whyNotPushed() {
        return locks.whyNotPushed();
    }

    @Override
    public Future<LockInfo> inspect(String key) {
        return future(locks.inspect(key));
    }

    @Override
    public ReadStream<LockEvent> events(String key) {
        return stream(locks.events(key));
    }

    @Override
    public VertxLeaderElection election(String key) {
        return new ContextLeaderElection(vertx, LeaderElection.of(locks, key));
    }

    @Override
    public Future<Boolean> isCurrent(String key, long fencingToken) {
        return future(locks.isCurrent(key, fencingToken));
    }

    @Override
    public Future<Boolean> forceRelease(String key) {
        return future(locks.forceRelease(key));
    }

    @Override
    public Future<Boolean> forceRelease(String key, long fencingToken) {
        return future(locks.forceRelease(key, fencingToken));
    }

    @Override
    public Future<Void> close() {
        return future(locks.close()).onComplete(done -> creator.removeCloseHook(hook));
    }

    <T> ReadStream<T> stream(Flux<T> flux) {
        return new ContextStream<>(vertx.getOrCreateContext(), flux);
    }

    <T> Future<T> future(Mono<T> mono) {
        return future(vertx.getOrCreateContext(), mono);
    }

    static <T> Future<T> future(ContextInternal caller, Mono<T> mono) {
        // What is current on the caller's thread, an observation above all, goes with the holds to the code that runs
        // below them.
        return Future.fromCompletionStage(
                mono.contextCapture().contextWrite(HeldContext.of(caller)).toFuture(), caller);
    }

    private VertxLockHandle handle(LockHandle held) {
        return new ContextLockHandle(this, held);
    }

    private <T> Mono<T> below(
            ContextInternal caller, List<LockHandle> held, Function<List<VertxLockHandle>, Future<T>> work) {
        return Mono.deferContextual(context -> Mono.create(sink -> run(caller, context, held, work, sink)));
    }

    private <T> void run(
            ContextInternal caller,
            ContextView context,
            List<LockHandle> held,
            Function<List<VertxLockHandle>, Future<T>> work,
            MonoSink<T> sink) {
        HeldContext.below(caller, context).runOnContext(now -> {
            // It may have been lost on the way here. Then that is the outcome, unless a late answer kept it after all.
            for (LockHandle each : held) {
                if (!each.isHeld()) {
                    sink.error(new IllegalStateException("the lease of lock '" + each.key()
                            + "' was over before the work under it began; acquire it again"));
                    return;
                }
            }
            complete(() -> work.apply(held.stream().map(this::handle).toList()), sink);
        });
    }

    /** What is done without a lock. */
    private static <T> Mono<T> on(ContextInternal caller, Supplier<Future<T>> ifTaken) {
        Objects.requireNonNull(ifTaken, "ifTaken");
        return Mono.create(sink -> caller.runOnContext(now -> complete(ifTaken, sink)));
    }

    private static <T> void complete(Supplier<Future<T>> work, MonoSink<T> sink) {
        Future<T> result;
        try {
            result = Objects.requireNonNull(work.get(), "the work under a lock, or instead of it, must not be null");
        } catch (Throwable e) {
            result = Future.failedFuture(e);
        }
        result.onComplete(sink::success, sink::error);
    }
}
