package io.github.reactivelock.zookeeper;

import io.github.reactivelock.spi.support.Departures;
import io.github.reactivelock.spi.support.Departures.Rank;
import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.EndlessRetry;
import io.github.reactivelock.spi.support.FireAndForget;
import io.github.reactivelock.spi.support.Silence;
import io.github.reactivelock.spi.support.SilenceClock;
import io.github.reactivelock.spi.support.Together;
import java.io.IOException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.framework.state.ConnectionStateListener;
import org.apache.curator.x.async.AsyncCuratorFramework;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.common.ZKConfig;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Scheduler;

/**
 * Curator's client, opened by the first command. Commands leave when it is their turn ({@link Departures}), from one
 * thread of this connection's own, because Curator may block its caller: while it makes a new ZooKeeper handle, say.
 * Answers come on ZooKeeper's event thread. Safe for use from any thread.
 */
final class Connection {

    private static final Logger log = LoggerFactory.getLogger(Connection.class);

    /** Divides the session timeout; the class comment of {@link ZooKeeperLockBackend} says why. */
    private static final int RELIABLE_PART = 2;

    /** Divides the command timeout; for such a part after it the servers may be asked why they did not answer. */
    private static final int DIAGNOSIS_PART = 10;

    private static final Duration FIRST_PAUSE = Duration.ofMillis(50);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(400);

    /** Between two questions whether the connection is alive. */
    private static final Duration BEAT = Duration.ofSeconds(1);
    /** How long a server that is connected may be silent. */
    private static final Duration LONGEST_SILENCE = Duration.ofMillis(1_500);

    /** Bytes of an answer, if the client's configuration says nothing else. */
    private static final int DEFAULT_BUFFER = 1 << 20;

    private static final int LONGEST_USUAL_NAME = 96;

    private static final SilenceClock PAUSES = SilenceClock.ofThisProcess();

    private final ClientSource source;
    private final ZooKeeperBackendOptions options;
    private final Scheduler thread = DriverThreads.scheduler("reactive-lock-zookeeper", 1);
    private final Set<Consumer<ConnectionState>> listeners = new CopyOnWriteArraySet<>();
    private final Departures departures = new Departures();
    /** Why the servers are silent, asked once for all who want to know. */
    private final Together<String, String> diagnoses;

    private final ConnectionStateListener onState = (client, state) -> changed(state);
    private volatile @Nullable AsyncCuratorFramework opened;
    private volatile int mostNames = DEFAULT_BUFFER / LONGEST_USUAL_NAME;
    private final Silence silence = new Silence();
    /** Those that have left and have no answer. */
    private final Set<Question<?>> underWay = ConcurrentHashMap.newKeySet();

    private volatile boolean closed;
    private final AtomicInteger interruptions = new AtomicInteger();
    /** Runs once; a later close gets the same outcome. */
    private final Mono<Void> end;

    Connection(ClientSource source, ZooKeeperBackendOptions options) {
        this.source = source;
        this.options = options;
        this.diagnoses = new Together<>(
                "asking servers why they are silent",
                Integer.MAX_VALUE,
                (servers, leaving) -> Mono.fromSupplier(leaving)
                        .flatMap(asked ->
                                Diagnosis.of(servers, options.commandTimeout().dividedBy(DIAGNOSIS_PART))));
        this.end = Mono.<Void>fromRunnable(this::disconnect)
                .subscribeOn(thread)
                .doFinally(signal -> {
                    thread.dispose();
                    departures.letAllGo();
                    underWay.forEach(question -> question.answered(null, ZooKeeperFailure.closed()));
                })
                .cache();
    }

    /** The servers, for people. */
    String servers() {
        return source.servers();
    }

    /** Whether there are more commands than may leave, so that an unanswered one may wait for its turn. */
    boolean isCrowded() {
        return departures.isCrowded();
    }

    /** Sends a command and gives its answer the time that a command may take. */
    <T> Mono<T> ask(Rank rank, Function<AsyncCuratorFramework, CompletionStage<T>> command) {
        return within(send(rank, command));
    }

    /** Sends a command whose answer may take as long as Curator goes on trying, but not much longer than a session. */
    <T> Mono<T> send(Rank rank, Function<AsyncCuratorFramework, CompletionStage<T>> command) {
        // Between two tries no verdict of its own is pending, and its time is to count there, too.
        return Mono.using(PAUSES::count, counting -> sent(rank, command), Disposable::dispose);
    }

    private <T> Mono<T> sent(Rank rank, Function<AsyncCuratorFramework, CompletionStage<T>> command) {
        return Mono.defer(() -> {
            AtomicReference<@Nullable Long> leftAt = new AtomicReference<>();
            return Mono.<Answer<T>>create(sink -> {
                        Question<T> question = new Question<>(rank, command, sink, leftAt);
                        sink.onCancel(() -> departures.withdraw(rank, question));
                        departures.add(rank, question);
                    })
                    .flatMap(Answer::asMono)
                    .retryWhen(EndlessRetry.after(FIRST_PAUSE, LONGEST_PAUSE)
                            .filter(error -> ZooKeeperFailure.passes(error) && hasTime(leftAt.get())));
        });
    }

    private boolean hasTime(@Nullable Long leftAt) {
        return leftAt != null
                && PAUSES.now() - leftAt < options.commandTimeout().toNanos();
    }

    /** A command on its way. It ends once: by its answer, or because none can come any more. */
    private final class Question<T> implements Runnable {

        private final Rank rank;
        private final Function<AsyncCuratorFramework, CompletionStage<T>> command;
        private final MonoSink<Answer<T>> asker;
        /** When the first try of the command left, by the clock of {@link SilenceClock}. */
        private final AtomicReference<@Nullable Long> firstLeftAt;

        private final AtomicBoolean over = new AtomicBoolean();
        private final Disposable.Swap limit = Disposables.swap();

        Question(
                Rank rank,
                Function<AsyncCuratorFramework, CompletionStage<T>> command,
                MonoSink<Answer<T>> asker,
                AtomicReference<@Nullable Long> firstLeftAt) {
            this.rank = rank;
            this.command = command;
            this.asker = asker;
            this.firstLeftAt = firstLeftAt;
        }

        /** It is its turn. */
        @Override
        public void run() {
            firstLeftAt.compareAndSet(null, PAUSES.now());
            underWay.add(this);
            limit.update(PAUSES.after(longestAnswer(), () -> answered(null, new TimeoutException())));
            try {
                thread.schedule(this::call);
            } catch (RejectedExecutionException e) {
                answered(null, e);
            }
        }

        private void call() {
            try {
                DriverThreads.call(() -> command.apply(client())).whenComplete(this::answered);
            } catch (RuntimeException e) {
                answered(null, e);
            }
        }

        private void answered(@Nullable T value, @Nullable Throwable failure) {
            if (!over.compareAndSet(false, true)) {
                return;
            }
            limit.dispose();
            underWay.remove(this);
            Answer<T> answer = new Answer<>(value, failure);
            if (answer.isTheServers()) {
                silence.answered();
            }
            departures.answered(rank);
            asker.success(answer);
        }
    }

    /** After a session without an answer ZooKeeper's client gives all up that it was asked, and Curator tries again. */
    private Duration longestAnswer() {
        return options.sessionTimeout().plus(options.commandTimeout());
    }

    /**
     * An error that says why, if the server answers nothing for as long as a command may take. It answers a session in
     * the order of its questions, so while it answers any, each that has left gets its turn, and then each that waits.
     */
    <T> Mono<T> within(Mono<T> answer) {
        return answer.timeout(silence.of(options.commandTimeout()), Mono.error(TimeoutException::new))
                .onErrorResume(this::explained);
    }

    /**
     * Completes when the names below a node fit into the client's buffer; a longer answer would close its connection
     * and take all its locks along. Over a client of the application the number is asked first; one made here has room.
     */
    CompletionStage<Void> roomForNames(AsyncCuratorFramework async, String path) {
        int most = mostNames;
        CompletableFuture<Void> room = new CompletableFuture<>();
        if (source.isOurs()) {
            room.complete(null);
            return room;
        }
        async.checkExists()
                .forPath(path)
                // Curator may block who asks.
                .<Void>handleAsync(
                        (stat, error) -> {
                            if (error != null) {
                                room.completeExceptionally(error);
                            } else if (stat != null && stat.getNumChildren() > most) {
                                room.completeExceptionally(
                                        ZooKeeperFailure.tooMany(source.servers(), path, stat.getNumChildren()));
                            } else {
                                room.complete(null);
                            }
                            return null;
                        },
                        step -> thread.schedule(() -> DriverThreads.run(step)))
                .whenComplete((answered, closed) -> {
                    if (closed != null) { // the thread is not there any more
                        room.completeExceptionally(closed);
                    }
                });
        return room;
    }

    private static int mostNames(CuratorFramework client) {
        int buffer = DEFAULT_BUFFER;
        try {
            buffer = client.getZookeeperClient()
                    .getZooKeeper()
                    .getClientConfig()
                    .getInt(ZKConfig.JUTE_MAXBUFFER, DEFAULT_BUFFER);
        } catch (Exception e) {
            log.debug("the buffer of the client is not known; it is taken for the default", e);
        }
        return buffer / LONGEST_USUAL_NAME;
    }

    /** The id of the present session, or zero if there is none yet. */
    Mono<Long> session() {
        return onThread(this::presentSession).onErrorMap(this::explain);
    }

    private Mono<Long> presentSession() {
        try {
            return Mono.just(
                    client().unwrap().getZookeeperClient().getZooKeeper().getSessionId());
        } catch (Exception e) {
            return Mono.error(e);
        }
    }

    private <T> Mono<T> onThread(Supplier<Mono<T>> step) {
        return Mono.defer(() -> DriverThreads.call(step)).subscribeOn(thread);
    }

    /** How long a hold may be relied upon after a question that was answered. */
    Duration reliable() {
        AsyncCuratorFramework client = opened;
        int negotiated =
                client == null ? 0 : client.unwrap().getZookeeperClient().getLastNegotiatedSessionTimeoutMs();
        Duration session = negotiated > 0 ? Duration.ofMillis(negotiated) : options.sessionTimeout();
        return session.dividedBy(RELIABLE_PART);
    }

    /** How often the connection broke so far: Curator may have repeated a command that saw this change. */
    int interruptions() {
        return interruptions.get();
    }

    /** Adds a listener for changes; it is called on Curator's thread for them, so it must not block. */
    void onChange(Consumer<ConnectionState> listener) {
        listeners.add(listener);
    }

    void noLonger(Consumer<ConnectionState> listener) {
        listeners.remove(listener);
    }

    boolean isConnected() {
        AsyncCuratorFramework client = opened;
        return client != null && client.unwrap().getZookeeperClient().isConnected();
    }

    /** Whether it was opened, and its client can still be asked, if perhaps not now. */
    boolean isUsable() {
        AsyncCuratorFramework client = opened;
        return client != null && client.unwrap().getState() == CuratorFrameworkState.STARTED;
    }

    boolean isClosed() {
        return closed;
    }

    /** What stands for the session: the same for all who were given the same client of the application. */
    Object shared() {
        Object shared = source.shared();
        return shared == null ? this : shared;
    }

    boolean isOurs() {
        return source.isOurs();
    }

    private void changed(ConnectionState state) {
        if (state == ConnectionState.SUSPENDED) {
            interruptions.incrementAndGet();
        }
        listeners.forEach(listener -> listener.accept(state));
    }

    /** Called on the one thread only. */
    private AsyncCuratorFramework client() {
        AsyncCuratorFramework present = opened;
        if (present != null) {
            if (!source.isOurs() && !isUsable()) {
                throw ClientSource.Users.notStarted();
            }
            return present;
        }
        if (closed) {
            throw ZooKeeperFailure.closed();
        }
        AsyncCuratorFramework fresh = AsyncCuratorFramework.wrap(source.open(onState));
        opened = fresh;
        if (!source.isOurs()) {
            mostNames = mostNames(fresh.unwrap());
        } else {
            FireAndForget.run("looking whether the connection is alive", lookAfter(fresh.unwrap()));
        }
        return fresh;
    }

    /**
     * A connection that was forgotten on its way looks alive, and ZooKeeper's client gives it two thirds of the
     * session, in which all holds would be lost. Closed here, it is opened again with the same session and its watches.
     */
    private Mono<Void> lookAfter(CuratorFramework client) {
        return Flux.interval(BEAT, DriverThreads.timer())
                .onBackpressureDrop()
                .takeWhile(tick -> !closed)
                .concatMap(tick -> isConnected() ? beat(client) : Mono.<Void>empty())
                .then();
    }

    private Mono<Void> beat(CuratorFramework client) {
        return onThread(() -> {
                    try {
                        ZooKeeper handle = client.getZookeeperClient().getZooKeeper();
                        Mono<Void> answered = Mono.create(
                                sink -> handle.exists("/", false, (code, path, context, stat) -> sink.success(), null));
                        return PAUSES.timeout(answered, LONGEST_SILENCE, Mono.defer(() -> closeSocket(handle)));
                    } catch (Exception e) {
                        return Mono.error(e);
                    }
                })
                .onErrorComplete(); // it is closed, or made anew just now
    }

    private Mono<Void> closeSocket(ZooKeeper handle) {
        return onThread(() -> {
            log.info("ZooKeeper at {} is silent; its connection is closed and opened again", source.servers());
            try {
                handle.getTestable().closeSocket();
                return Mono.empty();
            } catch (IOException e) {
                return Mono.error(e);
            }
        });
    }

    private <T> Mono<T> explained(Throwable error) {
        if (error instanceof TimeoutException || error instanceof KeeperException.ConnectionLossException) {
            return diagnoses
                    .ask(source.servers(), "why")
                    .flatMap(said -> Mono.error(ZooKeeperFailure.silent(source.servers(), isConnected(), said, error)));
        }
        return Mono.error(explain(error));
    }

    private ZooKeeperFailure explain(Throwable error) {
        return ZooKeeperFailure.explain(source.servers(), "/" + options.prefix(), error);
    }

    /** Ends the session if it is ours, which may block for a while, and goes on to do so after a cancel. */
    Mono<Void> close() {
        FireAndForget.run("closing the connection to ZooKeeper", end);
        return end;
    }

    private void disconnect() {
        closed = true;
        AsyncCuratorFramework last = opened;
        if (last != null) {
            last.unwrap().getConnectionStateListenable().removeListener(onState);
            if (source.isOurs()) {
                last.unwrap().close();
            }
        }
    }

    /**
     * A failure travels as a value, because Reactor logs an error that comes after a cancellation as one of its own.
     */
    record Answer<T>(@Nullable T value, @Nullable Throwable failure) {

        /** Whether the server said it, and not Curator in its place. */
        boolean isTheServers() {
            Throwable said = failure instanceof CompletionException e && e.getCause() != null ? e.getCause() : failure;
            return said == null
                    || (said instanceof KeeperException refused
                            && switch (refused.code()) {
                                case CONNECTIONLOSS, OPERATIONTIMEOUT, SESSIONEXPIRED, REQUESTTIMEOUT -> false;
                                default -> true;
                            });
        }

        Mono<T> asMono() {
            if (failure != null) {
                return Mono.error(
                        failure instanceof CompletionException e && e.getCause() != null ? e.getCause() : failure);
            }
            return Mono.justOrEmpty(value);
        }
    }
}
