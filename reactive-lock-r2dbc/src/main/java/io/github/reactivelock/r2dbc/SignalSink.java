package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.FencingTokens;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.support.LateId;
import io.github.reactivelock.spi.support.SignalListeners;
import io.github.reactivelock.state.LossReason;
import io.r2dbc.spi.Row;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Signals for clients: for this one at once, for others over PostgreSQL's notifications, or by a ring that has them
 * look ({@link Bell}). Every client has a channel of its own, and all share one for the locks that are watched. Safe
 * for use from any thread.
 */
final class SignalSink {

    private static final String GRANT = "grant";
    private static final String FORCED = "forced";
    private static final String RECALL = "recall";
    /** A listener that comes later finds a claim that its client knows to be lost. */
    private static final Duration NOTED = Duration.ofMinutes(1);

    private final LateId client;
    private final String watched;
    private final boolean notifies;
    private final @Nullable PgNotifications notices;
    private final @Nullable Bell bell;
    private final WatchedLocks marks = new WatchedLocks();
    private final SignalListeners listeners = new SignalListeners();
    private volatile Runnable interrupted = () -> {};

    SignalSink(Database database, LateId client) {
        this.client = client;
        this.watched = "reactive_lock.watched." + name(database.sql.prefix); // a channel's name has 63 bytes at most
        this.notifies = database.sql.dialect.notifies();
        this.notices = notifies && database.listens
                ? new PgNotifications(database, this::channel, watched, () -> interrupted.run())
                : null;
        this.bell = database.sql.dialect.rings() ? new Bell(database, client, marks) : null;
    }

    private String channel() {
        return channelOf(client());
    }

    private static String channelOf(String client) {
        return "reactive_lock." + client;
    }

    /** Whether other clients' news come by themselves; if not, they have to be looked for. */
    boolean arrive() {
        return (notices != null && notices.arrive()) || (bell != null && bell.hears());
    }

    /** Whether other clients can be told something about a claim, if news arrive. */
    boolean tells() {
        return notices != null || (bell != null && bell.listens());
    }

    Optional<String> whyNotPushed() {
        return notices != null
                ? Optional.ofNullable(notices.whyUnheard())
                : bell != null ? Optional.ofNullable(bell.whyDeaf()) : Optional.empty();
    }

    /** A claim found a grant for which it should have got a signal. */
    void doubt() {
        if (notices != null && notices.arrive()) {
            notices.doubt();
        }
        if (bell != null) {
            bell.doubt();
        }
    }

    /**
     * Calls an owner back that can be, in a statement or two. Where a ring says nothing, a note for its client names
     * the claim.
     */
    Mono<Boolean> recall(SqlSession session, String key) {
        byte[] name = KeyLayout.bytes(key);
        return bell == null
                ? session.alone(session.all("recall", row -> true, name).thenReturn(true))
                : session.alone(session.all("recallable", Owner::read, name)
                                .delayUntil(owners -> noted(session, owners)))
                        .doOnNext(owners -> owners.forEach(this::recalled))
                        .thenReturn(true);
    }

    private Mono<Void> noted(SqlSession session, List<Owner> owners) {
        return Flux.fromIterable(owners)
                .filter(owner -> !isFor(owner.client()))
                .concatMap(owner ->
                        note(session, KeyLayout.bytes(Bell.name(owner.client())), Recalls.note(owner.claimId()), NOTED))
                .then();
    }

    private void recalled(Owner owner) {
        if (isFor(owner.client())) {
            push(new Signal.Recall(owner.claimId()));
        } else {
            ring(Set.of(owner.client()));
        }
    }

    private record Owner(String claimId, String client) {
        static Owner read(Row row) {
            return new Owner(LockRow.text(row, "claim_id"), LockRow.text(row, "client"));
        }
    }

    /** Whose claims have to be looked for while other clients' news do not come by themselves. */
    void listensFor(WaitingClaims waits) {
        interrupted = waits::lookSoon;
        if (bell != null) {
            bell.listensFor(waits);
        }
    }

    /** A claim waits or can be called back, or a lock is watched. */
    void listen() {
        if (bell != null) {
            bell.listen();
        }
    }

    /** Wakes clients that were served, where their news do not come with the transaction. */
    void ring(Set<String> clients) {
        if (bell != null) {
            bell.ring(clients);
        }
    }

    /** Ends what listens. */
    Mono<Void> stop() {
        return bell == null ? Mono.empty() : bell.stop();
    }

    String client() {
        return client.get();
    }

    boolean isFor(String other) {
        return client().equals(other);
    }

    void push(Signal signal) {
        listeners.push(signal);
    }

    /** Tells another client when the transaction is certain, if the database can; otherwise it will look for itself. */
    Mono<Void> tell(SqlSession session, String other, Signal signal) {
        String text = signal instanceof Signal.Grant grant
                ? GRANT + " " + grant.claimId() + " " + FencingTokens.number(grant.fencingToken())
                : FORCED + " " + ((Signal.Suspect) signal).claimId() + " 0";
        return bell != null && signal instanceof Signal.Suspect lost
                ? note(session, KeyLayout.bytes(Bell.name(other)), lost.claimId(), NOTED)
                : notify(session, channelOf(other), text);
    }

    /** Tells all who watch a lock that something happened to it. */
    Mono<Void> announce(SqlSession session, String key) {
        return notify(session, watched, name(key));
    }

    /** Has those who change a lock ring for this client, for some time, if it listens to rings. */
    Mono<Void> watch(SqlSession session, byte[] key, Duration time) {
        if (bell == null || !bell.listens()) {
            return Mono.empty();
        }
        return note(session, key, client(), time);
    }

    /** A text of one's own number, which is below those of events. */
    private static Mono<Void> note(SqlSession session, byte[] key, String text, Duration time) {
        long number = Long.MIN_VALUE
                | UUID.nameUUIDFromBytes(text.getBytes(StandardCharsets.UTF_8)).getMostSignificantBits();
        return session.change("note", key, number, text, Micros.of(time)).then();
    }

    /** To be called when a change of a lock that is watched is certain, or may be. */
    void changed(String key) {
        marks.changed(key);
        if (bell != null) {
            bell.ringForWatchers(key);
        }
    }

    private Mono<Void> notify(SqlSession session, String to, String text) {
        return notifies ? session.all("notify", row -> true, to, text).then() : Mono.empty();
    }

    Flux<Signal> signals() {
        Flux<Signal> told = notices == null
                ? Flux.just(new Signal.Reconnected())
                : notices.arriving().<Signal>mapNotNull(notice -> read(notice, channel()));
        return Flux.merge(listeners.signals(), told);
    }

    /**
     * Emits when something may have happened to a lock, and once at the beginning; without end.
     *
     * @param last the number of the last event that the watcher knows
     */
    Flux<Boolean> changes(String key, long last) {
        String name = name(key);
        return notices == null
                ? marks.changes(key, last, this::listen)
                : notices.arriving()
                        .filter(notice -> notice.isConnected()
                                || (notice.channel().equals(watched)
                                        && notice.text().equals(name)))
                        .map(notice -> true)
                        .startWith(true)
                        .onBackpressureLatest();
    }

    /** Null if it is none of ours: every user of the database may notify. */
    static @Nullable Signal read(PgNotifications.Notice notice, String channel) {
        if (notice.isConnected()) {
            return new Signal.Reconnected();
        }
        String[] words = notice.text().split(" ", -1);
        if (!notice.channel().equals(channel) || words.length != 3 || !words[2].matches("\\d{1,16}")) {
            return null;
        }
        long number = Long.parseLong(words[2]);
        return switch (words[0]) {
            case GRANT ->
                number == 0 || number > FencingTokens.HIGHEST_NUMBER
                        ? null
                        : new Signal.Grant(words[1], FencingTokens.of(number));
            case RECALL -> new Signal.Recall(words[1]);
            case FORCED -> new Signal.Suspect(words[1], LossReason.FORCED);
            default -> null;
        };
    }

    /** A short name of a key that any text may hold. */
    private static String name(String key) {
        return UUID.nameUUIDFromBytes(key.getBytes(StandardCharsets.UTF_8)).toString();
    }

    void close() {
        listeners.close(R2dbcFailure.closed());
    }
}
