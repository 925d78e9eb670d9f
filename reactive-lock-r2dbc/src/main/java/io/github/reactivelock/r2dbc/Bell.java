package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.FireAndForget;
import io.github.reactivelock.spi.support.LateId;
import io.github.reactivelock.spi.support.SilenceClock;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.R2dbcException;
import io.r2dbc.spi.Row;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.publisher.Sinks;

/**
 * How MariaDB and MySQL wake a client. While a claim waits or can be called back, or a lock is watched, a connection
 * beside the pool has a user-level lock with the client's name and sleeps in a statement; who serves a claim of that
 * client, calls it back, or changes that lock, ends that statement ({@code KILL QUERY IS_USED_LOCK(name)}). The
 * statement looks before it sleeps, so a ring between two of them is not lost. A ring is only a hint: what happened is
 * found by looking, and one that is lost is made up for when the sleep is over.
 *
 * <p>In MySQL it sleeps in {@code SLEEP}. In MariaDB it waits for a name that one client of the server has, the anchor.
 * The first listener gets it. Its connection keeps the anchor and does nothing else, and another one listens.
 *
 * <pre>
 * state     event                                            -> what follows
 * ABSENT    there is a claim or a watch, and a try is due    -> OPENING (these look by time until it HEARS, and no
 *                                                               lock is kept)
 * OPENING   the connection has the name                      -> UNPROVED
 * OPENING   an earlier connection has the name               -> ends that one; ABSENT if the name is not free soon
 * UNPROVED  a ring ended the sleep, most likely its own      -> HEARS, and nothing is looked for by time any more
 * UNPROVED  slept through its own rings                      -> DEAF
 * HEARS     a ring ended the sleep, or a claim was served    -> looks, sleeps again
 * HEARS     slept through                                    -> sleeps again
 * any       got the anchor                                   -> keeps that connection; ABSENT, the next try is due
 * HEARS     ten seconds without a ring, or a doubt           -> rings for itself in its next sleep
 * HEARS     slept through its own rings                      -> DEAF, but see below
 * HEARS     slept through others' rings again and again      -> DEAF, but see below
 * HEARS     neither is there for half a minute               -> ABSENT, also where it kept the anchor
 * HEARS     they are more than 1,500                         -> UNPROVED until they are fewer
 * any       the connection is another's too                  -> DEAF
 * any       the connection broke, or is silent               -> ABSENT, the next try is due after 50 ms to a second
 * any       the server refuses the name or a look            -> DEAF
 * DEAF      30 s, then twice as long each time, to 8 minutes -> ABSENT, the next try is due
 * </pre>
 *
 * <p>One that heard may have been left at the old server by a switch-over. So the next try is due after 50 ms, and it
 * is DEAF if that happens a second time within eight minutes.
 */
final class Bell {

    private static final Duration KEPT = Duration.ofSeconds(30);

    private static final Duration CHECK = Duration.ofSeconds(10);
    /** The statement sleeps for two seconds. */
    private static final Duration SILENCE = Duration.ofSeconds(5);

    private static final Duration TO_FALL_ASLEEP = Duration.ofMillis(100);
    /** Where nothing hurries: a ring that finds it awake ends a look, which the driver of MariaDB logs. */
    private static final Duration TO_SLEEP_SOUND = Duration.ofMillis(700);

    private static final Duration BETWEEN_RINGS = Duration.ofMillis(250);
    private static final int RINGS = 4;
    private static final Duration FIRST_PAUSE = Duration.ofMillis(50);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);
    private static final Duration DEAFNESS = Duration.ofSeconds(30);
    private static final int MOST_DOUBLINGS = 4;
    /** Where some may not ring, moving would never end. */
    private static final long BETWEEN_MOVES =
            DEAFNESS.multipliedBy(1L << MOST_DOUBLINGS).toNanos();

    /** Microseconds; a grant that is younger than that at the end of a sleep may have its ring on the way. */
    private static final long LATE = 250_000;

    /** A list has one element at least. */
    private static final List<WaitingClaims.Waiting> NONE = List.of(new WaitingClaims.Waiting("", ""));

    /** Claims and locks in one statement; more of them are looked for by time, because each ring would say them all. */
    private static final int MOST_CLAIMS = 1_500;

    private static final int LOST = 2;
    private static final int TOO_MANY_LOST = 4;
    private static final Logger log = LoggerFactory.getLogger(Bell.class);

    /**
     * A claim that was served, or a lock with news for who watches it, for how many microseconds; a note about a claim
     * that was released by force or is called back; or, by a dot, how the listener's statement ended.
     */
    private record Line(String claimId, long token, long age) {
        static Line read(Row row) {
            return new Line(LockRow.text(row, "claim_id"), LockRow.number(row, "token"), LockRow.number(row, "age"));
        }

        boolean isEnd() {
            return claimId.equals(".");
        }

        boolean isNote() {
            return claimId.startsWith("!");
        }

        /** The key of a lock that is watched, with the number of its last event; null if it is not that. */
        @Nullable
        String watched() {
            return claimId.startsWith("#") ? KeyLayout.key(HexFormat.of().parseHex(claimId.substring(1))) : null;
        }
    }

    /** What a statement of the listener answered. */
    private record Turn(boolean isOwn, boolean isAnchor, boolean isRung, List<Line> news) {

        static final Turn RUNG = new Turn(true, false, true, List.of());

        static Turn of(List<Line> lines) {
            Line end = lines.stream().filter(Line::isEnd).findFirst().orElse(new Line(".", 1, 0));
            return new Turn(
                    end.token() >= 1,
                    end.token() == 2,
                    end.age() == 1,
                    lines.stream().filter(line -> !line.isEnd()).toList());
        }

        long age() {
            return news.stream().mapToLong(Line::age).max().orElse(0);
        }
    }

    /** Rings do not arrive, and will not soon. */
    private static final class Deaf extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Deaf(String why) {
            super(why);
        }
    }

    private final Database database;
    private final LateId client;
    private final WatchedLocks watched;
    /** Locks for whose watchers there will be a ring. */
    private final Set<String> changed = ConcurrentHashMap.newKeySet();

    private final ConnectionFactory unpooled;
    private final AtomicBoolean listening = new AtomicBoolean();
    private final AtomicBoolean stopped = new AtomicBoolean();
    private final AtomicBoolean warned = new AtomicBoolean();
    private final Disposable.Swap life = Disposables.swap();
    private final AtomicInteger failures = new AtomicInteger();
    private final AtomicInteger deafnesses = new AtomicInteger();
    private volatile @Nullable WaitingClaims waits;
    private volatile @Nullable MonoSink<Boolean> idle;
    private volatile boolean hears;
    /** Why rings are not heard, from when that is certain until one is. */
    private volatile @Nullable String deafness;

    private volatile long due = System.nanoTime();
    private volatile long heardAt;
    private volatile boolean doubted;
    /** A statement of the listener is under way. */
    private volatile boolean asleep;

    private final Sinks.Empty<Void> stopping = Sinks.empty();
    private final Sinks.Empty<Void> over = Sinks.empty();
    /** For which the listeners of MariaDB wait, if it is ours. */
    private final AtomicReference<@Nullable Connection> anchor = new AtomicReference<>();

    private int lost;
    private boolean sleptThrough;
    /** When it was last opened anew because rings were not heard any more. */
    private long movedAt = System.nanoTime() - BETWEEN_MOVES;

    Bell(Database database, LateId client, WatchedLocks watched) {
        this.database = database;
        this.client = client;
        this.watched = watched;
        this.unpooled = Wrappers.unpooled(database.factory);
    }

    static String name(String client) {
        return "reactive_lock." + client;
    }

    void listensFor(WaitingClaims waiting) {
        waits = waiting;
    }

    /** Whether a ring arrives, so that nothing has to be looked for. */
    boolean hears() {
        return hears;
    }

    @Nullable
    String whyDeaf() {
        String cannot = whyItDoesNotListen();
        return cannot == null ? deafness : "rings of MySQL are not heard: " + cannot;
    }

    private @Nullable String whyItDoesNotListen() {
        return database.listens ? database.sql.whyNoScripts() : null;
    }

    /** A claim found a grant for which somebody should have rung. */
    void doubt() {
        doubted = true;
    }

    /** Whether it would listen if there were something to listen for. */
    boolean listens() {
        return database.listens && !stopped.get() && database.sql.knows("listen");
    }

    /** To be called when a claim waits or can be called back, and when a lock is watched. */
    void listen() {
        MonoSink<Boolean> resting = idle;
        if (resting != null) {
            resting.success(true);
        }
        String cannot = whyItDoesNotListen();
        if (cannot != null && warned.compareAndSet(false, true)) {
            log.warn(
                    "rings of MySQL are not heard ({}): a lock that is given to another process is noticed within 5 ms to a"
                            + " second, and none is kept without a flow. Change that, or turn ringing off"
                            + " (R2dbcBackendOptions.withoutNotifications())",
                    cannot);
        }
        if (listens() && listening.compareAndSet(false, true)) {
            life.update(FireAndForget.cancellable(
                    "listening",
                    Mono.defer(this::opened).repeat(() -> isWanted()).then().doFinally(end -> {
                        listening.set(false);
                        if (stopped.get()) {
                            over.tryEmitEmpty();
                        } else if (isWanted()) {
                            listen();
                        } else {
                            FireAndForget.run("leaving the anchor", unanchored());
                        }
                    })));
        }
    }

    private boolean isWanted() {
        return !stopped.get() && !(waiting().isEmpty() && isIdle());
    }

    private boolean isIdle() {
        return watched.isEmpty() && !waiting().listensForRecalls();
    }

    private WaitingClaims waiting() {
        return Objects.requireNonNull(waits, "waits");
    }

    /** Ends who sleeps, in the background and each by itself: whether it is heard is not the ringer's concern. */
    void ring(Set<String> clients) {
        if (!clients.isEmpty()) {
            FireAndForget.run(
                    "ringing",
                    Flux.fromIterable(Set.copyOf(clients))
                            .concatMap(listener -> rung(listener).onErrorComplete())
                            .then());
        }
    }

    /** In the background too: who changes a watched lock does not look for its watchers. */
    void ringForWatchers(String key) {
        if (changed.add(key)) {
            FireAndForget.run(
                    "ringing for watchers",
                    database.run(session -> {
                                changed.remove(key); // a change from now on is not seen by this look
                                return session.alone(session.all(
                                        "watchers", row -> LockRow.text(row, "client"), KeyLayout.bytes(key)));
                            })
                            .doOnError(error -> changed.remove(key))
                            .doOnNext(clients -> ring(clients.stream()
                                    .filter(other -> !other.equals(client.get()))
                                    .collect(Collectors.toSet()))));
        }
    }

    private Mono<Boolean> rung(String listener) {
        return database.run(session -> session.ring(name(listener)).thenReturn(true));
    }

    /**
     * Ends a sleep first, because a driver complains of a connection that is closed under a statement, and waits until
     * the connection is closed, because a program may end with this.
     */
    Mono<Void> stop() {
        return Mono.defer(() -> {
            stopped.set(true);
            stopping.tryEmitEmpty();
            Mono<Boolean> left = listening.get() ? left() : Mono.just(true);
            return SilenceClock.ofThisProcess()
                    .timeout(left, LONGEST_PAUSE, Mono.just(false))
                    .then(Mono.<Void>fromRunnable(life::dispose))
                    .then(unanchored())
                    .doFinally(end -> life.dispose());
        });
    }

    /** Rings until it has left: a ring may come before the statement that sleeps. */
    private Mono<Boolean> left() {
        return Mono.defer(() -> asleep ? rung(client.get()).onErrorComplete().then() : Mono.<Void>empty())
                .then(Mono.firstWithSignal(
                        over.asMono().thenReturn(true),
                        Mono.delay(BETWEEN_RINGS, DriverThreads.timer()).thenReturn(false)))
                .repeat()
                .takeUntil(hasLeft -> hasLeft)
                .last();
    }

    private Mono<Void> opened() {
        return after(Duration.ofNanos(Math.max(0, due - System.nanoTime())))
                .then(Mono.usingWhen(
                        DriverThreads.subscribing(
                                        Mono.defer(() -> stopped.get() ? Mono.empty() : Mono.from(unpooled.create())))
                                .map(database::taken),
                        this::named,
                        this::closed,
                        (connection, error) -> closed(connection),
                        this::closed))
                .doOnError(this::failed) // which asks whether it heard
                .doOnTerminate(this::silence) // before another one is opened
                .doOnCancel(this::silence)
                .onErrorComplete();
    }

    private Mono<Void> closed(Connection connection) {
        if (anchor.get() == connection) {
            return Mono.empty();
        }
        return database.left(
                Wrappers.isLent(connection) ? Database.giveBack(connection) : database.discard(connection));
    }

    private void silence() {
        boolean heard = hears;
        hears = false;
        sleptThrough = false;
        if (heard) {
            waiting().lookSoon();
            watched.lookSoon();
        }
    }

    private void failed(Throwable error) {
        boolean moves = error instanceof Deaf && hears && System.nanoTime() - movedAt >= BETWEEN_MOVES;
        boolean isDeaf = error instanceof Deaf || R2dbcFailure.lasts(error) || isRefused(error);
        Duration pause;
        if (moves) {
            log.debug(
                    "rings are not heard any more, as after a switch-over: the listener opens another connection",
                    error);
            movedAt = System.nanoTime();
            pause = FIRST_PAUSE;
        } else if (isDeaf) {
            int times = deafnesses.getAndIncrement();
            deafness = "rings of MariaDB or MySQL are not heard: " + error.getMessage();
            pause = DEAFNESS.multipliedBy(1L << Math.min(MOST_DOUBLINGS, times));
            log.atLevel(times == 0 ? Level.WARN : Level.DEBUG)
                    .log(
                            "rings of MariaDB or MySQL are not heard ({}): a lock that is given to another process is noticed"
                                    + " within 5 ms to a second, and ringing is tried again in {} s. All clients of the locks"
                                    + " need one user of one server, or turn ringing off"
                                    + " (R2dbcBackendOptions.withoutNotifications())",
                            String.valueOf(error.getMessage()),
                            pause.toSeconds());
        } else {
            log.debug("the connection of the listener broke", error);
            pause = FIRST_PAUSE.multipliedBy(1L << Math.min(10, failures.getAndIncrement()));
            pause = pause.compareTo(LONGEST_PAUSE) < 0 ? pause : LONGEST_PAUSE;
        }
        lost = 0;
        due = System.nanoTime() + pause.toNanos();
    }

    /** As Galera refuses user-level locks. A table that is locked will be free. */
    private static boolean isRefused(Throwable error) {
        return error instanceof R2dbcException known
                && known.getErrorCode() > 0
                && !R2dbcFailure.isBroken(error)
                && !R2dbcFailure.passes(error)
                && !R2dbcFailure.wasRolledBack(error)
                && !R2dbcFailure.isLockTimeout(error);
    }

    /** A pause, which stopping ends. */
    private Mono<Void> after(Duration pause) {
        return pause.isZero()
                ? Mono.empty()
                : Mono.delay(pause, DriverThreads.timer()).then().or(stopping.asMono());
    }

    /** Takes the name, from an earlier connection of ours if that still has it. */
    private Mono<Void> named(Connection connection) {
        if (Wrappers.isLent(connection)) {
            return Mono.error(new Deaf("the pool is inside a ConnectionFactory that does not show it"));
        }
        SqlSession session = new SqlSession(connection, database.sql);
        String name = name(client.get());
        Mono<Void> named = session.change("listening")
                .then(session.one("listener", Bell::isTaken, name, 0L))
                .flatMap(taken -> taken
                        ? Mono.just(true)
                        : session.change("silence", name)
                                .onErrorComplete()
                                .then(session.one("listener", Bell::isTaken, name, 1L)))
                .flatMap(taken ->
                        taken ? Mono.empty() : Mono.error(new IllegalStateException("the listener's name is taken")));
        return inTime(named.thenReturn(true))
                .then(Mono.defer(() -> turn(session, name))
                        .repeat()
                        .takeUntil(goesOn -> !goesOn)
                        .then());
    }

    private static boolean isTaken(Row row) {
        return LockRow.number(row, "taken") == 1;
    }

    private static <T> Mono<T> inTime(Mono<T> answer) {
        return SilenceClock.ofThisProcess()
                .timeout(
                        answer,
                        SILENCE,
                        Mono.error(() -> new IllegalStateException("the connection of the listener is silent")));
    }

    /** Whether there is to be another one. */
    private Mono<Boolean> turn(SqlSession session, String name) {
        return Mono.defer(() -> {
            List<WaitingClaims.Waiting> some = waiting().listenedFor();
            if (some.isEmpty() && isIdle()) {
                return rested();
            }
            if (some.size() + watched.size() > MOST_CLAIMS) {
                silence();
                return after(LONGEST_PAUSE).then(Mono.fromSupplier(() -> !stopped.get()));
            }
            asleep = true;
            if (stopped.get()) { // which sees that it sleeps, or is seen here
                asleep = false;
                return Mono.just(false);
            }
            boolean proves = !hears || doubted || System.nanoTime() - heardAt > CHECK.toNanos();
            AtomicInteger rings = new AtomicInteger();
            AtomicBoolean ended = new AtomicBoolean();
            if (proves) {
                doubted = false;
                prove(rings, ended);
            }
            List<WaitingClaims.Waiting> claims = some.isEmpty() ? NONE : some;
            List<byte[]> keys =
                    claims.stream().map(each -> KeyLayout.bytes(each.key())).toList();
            List<String> ids =
                    claims.stream().map(WaitingClaims.Waiting::claimId).toList();
            return inTime(session.listen(Line::read, name, watched.asked(), keys, ids, ids, keys, ids, ids)
                            .map(Turn::of)
                            .onErrorResume(R2dbcFailure::isRung, rung -> Mono.just(Turn.RUNG)))
                    .doOnTerminate(() -> awake(ended)) // before the next one sleeps
                    .doOnCancel(() -> awake(ended))
                    .doOnNext(turn -> judge(turn, rings.get() == RINGS))
                    .delayUntil(turn -> forgotten(session, name, turn))
                    .flatMap(turn -> turn.isAnchor() ? anchored(session, name) : Mono.just(true));
        });
    }

    private void awake(AtomicBoolean ended) {
        asleep = false;
        ended.set(true);
    }

    /** Forgets notes that were passed on. One that stays is passed on again. */
    private static Mono<Void> forgotten(SqlSession session, String name, Turn turn) {
        return Flux.fromIterable(turn.news())
                .filter(Line::isNote)
                .concatMap(line -> inTime(session.change("noted", KeyLayout.bytes(name), line.token()))
                        .onErrorResume(R2dbcFailure::isRung, rung -> Mono.empty()))
                .then();
    }

    /** Keeps the connection for which listeners wait. Rings are for the next one, so it gives the name back. */
    private Mono<Boolean> anchored(SqlSession session, String name) {
        Mono<Boolean> released = session.one("unlisten", Bell::isTaken, name);
        return inTime(released.onErrorResume(R2dbcFailure::isRung, rung -> released))
                .flatMap(done -> ended(anchor.getAndSet(session.connection())))
                .thenReturn(false);
    }

    private Mono<Void> unanchored() {
        return Mono.defer(() -> ended(anchor.getAndSet(null)));
    }

    private Mono<Void> ended(@Nullable Connection connection) {
        return connection == null ? Mono.empty() : database.left(database.discard(connection));
    }

    /** Waits until something waits, but not for ever. */
    private Mono<Boolean> rested() {
        sleptThrough = false;
        Mono<Boolean> called = Mono.create(sink -> {
            idle = sink;
            if (isWanted()) {
                sink.success(true);
            }
        });
        return called.or(after(KEPT).thenReturn(false))
                .doOnTerminate(() -> idle = null) // before it may rest again
                .doOnCancel(() -> idle = null);
    }

    /** More than one ring, because the first may come before the statement in which it sleeps. */
    private void prove(AtomicInteger rings, AtomicBoolean ended) {
        FireAndForget.run(
                "proving that rings are heard",
                after(hears ? TO_SLEEP_SOUND : TO_FALL_ASLEEP)
                        .then(Mono.defer(() -> ended.get()
                                        ? Mono.<Boolean>empty()
                                        : rung(client.get())
                                                .doOnNext(rung -> rings.incrementAndGet())
                                                .then(after(BETWEEN_RINGS))
                                                .then(Mono.<Boolean>empty()))
                                .repeat(RINGS - 1)
                                .then()));
    }

    /** What was seen after a full sleep was there before its end if it is old: its ring is lost. */
    private void judge(Turn turn, boolean isUnheard) {
        if (!turn.isOwn()) {
            throw new Deaf("something on the way to the server shares the connection");
        }
        boolean isNews = false;
        for (Line line : turn.news()) {
            String key = line.watched();
            if (line.isNote()) {
                waiting().noted(line.claimId().substring(1));
            } else {
                isNews |= key == null
                        ? waiting().served(line.claimId(), line.token())
                        : watched.happened(key, line.token()) && hears;
            }
        }
        if (turn.isRung()) {
            heard();
        }
        if (isNews && turn.age() > LATE && (sleptThrough || !turn.isRung())) {
            lost += LOST;
        } else if (isNews) {
            lost = Math.max(0, lost - 1);
        }
        if (turn.isAnchor()) {
            return;
        }
        sleptThrough = !turn.isRung() && turn.news().isEmpty();
        if (lost >= TOO_MANY_LOST) {
            throw new Deaf("those who gave locks on did not ring, or were not allowed to");
        }
        if (isUnheard && !turn.isRung() && turn.news().isEmpty()) {
            throw new Deaf("the listener slept through its own rings");
        }
    }

    private void heard() {
        heardAt = System.nanoTime();
        failures.set(0);
        deafness = null;
        if (!hears) {
            hears = true;
            if (deafnesses.get() > 0) {
                log.info("rings of MariaDB or MySQL are heard again");
            }
        }
    }
}
