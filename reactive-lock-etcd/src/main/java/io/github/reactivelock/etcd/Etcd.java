package io.github.reactivelock.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.Txn;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.lease.LeaseGrantResponse;
import io.etcd.jetcd.lease.LeaseTimeToLiveResponse;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.LeaseOption;
import io.etcd.jetcd.options.WatchOption;
import io.etcd.jetcd.watch.WatchResponse;
import io.github.reactivelock.spi.support.Departures;
import io.github.reactivelock.spi.support.Departures.Rank;
import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.FireAndForget;
import io.github.reactivelock.spi.support.Silence;
import io.github.reactivelock.spi.support.SilenceClock;
import io.github.reactivelock.spi.support.SuspendClock;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;
import reactor.core.publisher.Mono;

/**
 * The commands of etcd as cold Monos. Each is repeated while its failure looks passing and its time is not up, which
 * is right because all that is sent here is idempotent. Errors are {@link EtcdFailure}s. Safe for use from any
 * thread.
 */
final class Etcd {

    private static final Duration FIRST_PAUSE = Duration.ofMillis(50);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(400);
    private static final long PATIENCE_WITH_A_CLIENT = Duration.ofSeconds(1).toNanos();
    /** Between two questions whether the connections of a client are alive. */
    private static final Duration BEAT = Duration.ofSeconds(1);
    /** How long a member may be silent about what it could answer by itself. */
    private static final long LONGEST_SILENCE = Duration.ofMillis(1_500).toNanos();

    private static final GetOption OF_ONE_MEMBER =
            GetOption.builder().withSerializable(true).withCountOnly(true).build();

    /** A client, and since when it has not answered: gRPC waits ever longer before it connects again, up to minutes. */
    private static final class Opened {
        final Mono<Client> client;
        /** Once it is open. */
        volatile @Nullable Client present;

        volatile long answeredAt = PAUSES.now();
        /** It said by itself that it has no connection, and none of its members has answered since. */
        volatile boolean isKnownToBeCut;

        Opened(Mono<Client> client) {
            this.client = client.doOnNext(open -> present = open);
        }

        void answered() {
            answeredAt = PAUSES.now();
            isKnownToBeCut = false;
        }
    }

    private static final SilenceClock PAUSES = SilenceClock.ofThisProcess();

    private final ClientSource source;
    private final KeyLayout names;
    private final long patience;
    private final SuspendClock clock;
    private final AtomicReference<@Nullable Opened> opened = new AtomicReference<>();
    private final Departures departures = new Departures();
    private final Silence silence = new Silence();
    private volatile boolean closed;

    Etcd(ClientSource source, EtcdBackendOptions options) {
        this(source, options, new SuspendClock());
    }

    Etcd(ClientSource source, EtcdBackendOptions options, SuspendClock clock) {
        this.clock = clock;
        this.source = source;
        this.names = new KeyLayout(options.prefix());
        this.patience = options.commandTimeout().toNanos();
    }

    /** Nanoseconds by which to count leases, which run on at etcd while this machine is suspended. */
    long now() {
        return clock.lookAndTell();
    }

    /** Whether there are more commands than may leave, so that an unanswered one may wait for its turn. */
    boolean isCrowded() {
        return departures.isCrowded();
    }

    Mono<TxnResponse> txn(Rank rank, UnaryOperator<Txn> content) {
        return ask(rank, client -> content.apply(client.getKVClient().txn()).commit());
    }

    /**
     * As {@link #txn(Rank, UnaryOperator)}, and tells of each attempt that failed and may have been carried out
     * nevertheless.
     */
    Mono<TxnResponse> txn(Rank rank, UnaryOperator<Txn> content, Runnable doubt) {
        return ask(rank, client -> content.apply(client.getKVClient().txn()).commit(), doubt);
    }

    Mono<GetResponse> get(ByteSequence key, GetOption option) {
        return get(key, () -> option);
    }

    /** What is to be read is asked when the command leaves. */
    Mono<GetResponse> get(ByteSequence key, Supplier<GetOption> option) {
        return ask(Rank.LOOK, client -> client.getKVClient().get(key, option.get()));
    }

    /** How many changes there have been if the first of them can still be read, or zero. Asked with a key of ours. */
    Mono<Long> wholeHistory(ByteSequence key) {
        GetOption now = GetOption.builder().withCountOnly(true).build();
        GetOption first =
                GetOption.builder().withCountOnly(true).withRevision(1).build();
        return ask(
                Rank.LOOK,
                client -> client.getKVClient()
                        .get(key, now)
                        .thenCompose(present -> client.getKVClient()
                                .get(key, first)
                                .handle((past, error) ->
                                        error == null ? present.getHeader().getRevision() : 0L)));
    }

    Mono<LeaseGrantResponse> grantLease(long seconds) {
        return ask(Rank.HOLD, client -> client.getLeaseClient().grant(seconds));
    }

    /** The lease's time to live in seconds, from now on. */
    Mono<Long> keepAlive(long lease) {
        return ask(Rank.HOLD, client -> client.getLeaseClient().keepAliveOnce(lease))
                .map(answer -> answer.getTTL());
    }

    Mono<LeaseTimeToLiveResponse> timeToLive(long lease, LeaseOption option) {
        return ask(Rank.HOLD, client -> client.getLeaseClient().timeToLive(lease, option));
    }

    Mono<Void> revoke(long lease) {
        return ask(Rank.HOLD, client -> client.getLeaseClient().revoke(lease)).then();
    }

    /**
     * Changes from a revision on. Any interruption is an error: jetcd would go on by itself, but can skip events when
     * it is interrupted again before it has caught up.
     */
    Flux<WatchResponse> watch(ByteSequence key, WatchOption option) {
        return Flux.defer(() -> {
                    Opened used = current();
                    return used.client
                            .flatMapMany(client -> watch(client.getWatchClient(), key, option))
                            .doOnNext(change -> used.answered());
                })
                .onErrorMap(this::explain);
    }

    private Flux<WatchResponse> watch(Watch watches, ByteSequence key, WatchOption option) {
        return Flux.create(sink -> {
            Watch.Watcher watcher = DriverThreads.call(() -> watches.watch(key, option, new ToSink(sink)));
            sink.onDispose(watcher::close);
        });
    }

    private record ToSink(FluxSink<WatchResponse> sink) implements Watch.Listener {
        @Override
        public void onNext(WatchResponse response) {
            sink.next(response);
        }

        @Override
        public void onError(Throwable throwable) {
            fail(throwable);
        }

        @Override
        public void onCompleted() {
            fail(Status.UNAVAILABLE.withDescription("the watch ended").asRuntimeException());
        }

        private void fail(Throwable error) {
            if (!sink.isCancelled()) {
                sink.error(error);
            }
        }
    }

    Mono<Void> close() {
        return Mono.defer(() -> {
            closed = true;
            Opened last = opened.getAndSet(null);
            return last == null
                    ? Mono.empty()
                    : last.client.flatMap(source::close).onErrorComplete();
        });
    }

    private <T> Mono<T> ask(Rank rank, Function<Client, CompletableFuture<T>> command) {
        return ask(rank, command, () -> {});
    }

    /**
     * A command has its time from when it leaves, with as much again for the last attempt. It waits for its turn only
     * while etcd answers others.
     */
    private <T> Mono<T> ask(Rank rank, Function<Client, CompletableFuture<T>> command, Runnable doubt) {
        Mono<T> silent = Mono.error(() ->
                explain(Status.DEADLINE_EXCEEDED.withDescription("no answer").asRuntimeException()));
        Mono<T> bounded = PAUSES.timeout(
                Mono.defer(() -> attempt(command, doubt, PAUSES.now() + patience, FIRST_PAUSE)), longest(), silent);
        return departures.inTurn(rank, bounded).timeout(silence.of(longest()), silent);
    }

    private Duration longest() {
        return Duration.ofNanos(patience).multipliedBy(2);
    }

    private <T> Mono<T> attempt(
            Function<Client, CompletableFuture<T>> command, Runnable doubt, long until, Duration pause) {
        Opened used;
        try {
            used = current();
        } catch (IllegalStateException e) {
            return Mono.error(e);
        }
        return used.client
                .flatMap(client -> answer(DriverThreads.call(() -> command.apply(client))))
                .doOnNext(answer -> answered(used))
                .onErrorResume(error -> {
                    EtcdFailure failure = explain(error);
                    replaceIfStuck(used, failure);
                    if (failure.mayHaveBeenCarriedOut()) {
                        doubt.run();
                    }
                    if (!failure.isTransient() || PAUSES.now() + pause.toNanos() - until >= 0) {
                        return Mono.error(failure);
                    }
                    Duration doubled = pause.multipliedBy(2);
                    Duration next = doubled.compareTo(LONGEST_PAUSE) < 0 ? doubled : LONGEST_PAUSE;
                    return Mono.delay(pause, DriverThreads.timer())
                            .then(Mono.defer(() -> attempt(command, doubt, until, next)));
                });
    }

    /**
     * A failure travels as a value, because Reactor logs an error that comes after a cancellation as one of its own.
     */
    private static <T> Mono<T> answer(CompletableFuture<T> future) {
        return Mono.fromFuture(future.handle(Answer::new), true).flatMap(Answer::asMono);
    }

    private record Answer<T>(@Nullable T value, @Nullable Throwable failure) {
        Mono<T> asMono() {
            if (failure != null) {
                return Mono.error(
                        failure instanceof CompletionException e && e.getCause() != null ? e.getCause() : failure);
            }
            return Mono.justOrEmpty(value);
        }
    }

    private Opened current() {
        Opened present = opened.get();
        if (present != null) {
            return present;
        }
        if (closed) {
            throw closedError();
        }
        Opened fresh = new Opened(source.open(names.lock("")));
        if (!opened.compareAndSet(null, fresh)) {
            return current();
        }
        if (closed) {
            FireAndForget.run("closing a client that was opened too late", close());
        } else if (source.isOurs) {
            FireAndForget.run("looking whether connections are alive", lookAfter(fresh));
        }
        return fresh;
    }

    /**
     * A connection that was forgotten on its way looks alive, and gRPC asks only every ten seconds, which etcd's
     * limit allows. Each member is asked what it can answer without a leader; if one is silent, all watches begin
     * anew with a new client.
     */
    private Mono<Void> lookAfter(Opened used) {
        return Flux.interval(BEAT, DriverThreads.timer())
                .onBackpressureDrop()
                .takeWhile(tick -> opened.get() == used)
                .concatMap(tick -> Flux.range(0, source.members)
                        .flatMap(member -> silence(used))
                        .reduce(0L, Math::max))
                .scan(0L, (before, silence) -> silence == 0 ? 0 : before + silence)
                .filter(silence -> silence >= LONGEST_SILENCE)
                .next()
                .doOnNext(silence -> replace(used))
                .then();
    }

    /**
     * How long the member whose turn it is was silent, or zero if it answered. A refusal is an answer, and of a
     * connection that cannot be made gRPC knows.
     */
    private Mono<Long> silence(Opened used) {
        Client client = used.present;
        if (client == null || used.isKnownToBeCut) {
            return Mono.just(0L);
        }
        return Mono.defer(() -> {
            long askedAt = PAUSES.now();
            Mono<Long> unanswered = Mono.fromSupplier(() -> PAUSES.now() - askedAt);
            Mono<Long> answered = answer(
                            DriverThreads.call(() -> client.getKVClient().get(names.lock(""), OF_ONE_MEMBER)))
                    .thenReturn(0L)
                    .onErrorResume(error -> {
                        boolean isSilence = isOverdue(error);
                        used.isKnownToBeCut = !isSilence && explain(error).isUnreachable();
                        return isSilence ? unanswered : Mono.just(0L);
                    });
            return PAUSES.timeout(answered, BEAT, unanswered);
        });
    }

    private static boolean isOverdue(Throwable error) {
        return Stream.iterate(error, Objects::nonNull, Throwable::getCause)
                .anyMatch(cause -> cause instanceof StatusRuntimeException status
                        && status.getStatus().getCode() == Status.Code.DEADLINE_EXCEEDED);
    }

    private void answered(Opened used) {
        used.answered();
        silence.answered();
    }

    /** A new client connects at once, where the old one would wait. */
    private void replaceIfStuck(Opened used, EtcdFailure failure) {
        if (!failure.isTransient()) {
            answered(used);
        } else if (failure.isUnreachable()
                && source.isOurs
                && PAUSES.now() - used.answeredAt > PATIENCE_WITH_A_CLIENT) {
            replace(used);
        }
    }

    private void replace(Opened used) {
        if (opened.compareAndSet(used, null)) {
            FireAndForget.run("closing a client that lost its connection", used.client.flatMap(source::close));
        }
    }

    String server() {
        return source.server;
    }

    boolean isClosed() {
        return closed;
    }

    static IllegalStateException closedError() {
        return new IllegalStateException("this etcd lock backend is closed");
    }

    private EtcdFailure explain(Throwable error) {
        return EtcdFailure.explain(source.server, names.prefix(), error);
    }
}
