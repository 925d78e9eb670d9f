package io.github.reactivelock.memory;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockPage;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.Vote;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.FluxSink;

/**
 * The locks of one store. Every command is one atomic step on its key, inside {@link ConcurrentMap#compute}; its
 * notices are queued there, so that subscribers get those of one key in the order of its steps, and are delivered
 * after the step.
 */
final class Store {

    private static final int PAGE = 500;

    private final ConcurrentMap<String, Entry> entries = new ConcurrentHashMap<>();
    private final Tokens tokens = new Tokens();
    private final Notices notices = new Notices();
    private final LongSupplier clock;
    private final long startedAt;

    Store(LongSupplier clock) {
        this.clock = clock;
        this.startedAt = clock.getAsLong();
    }

    /** Differs between stores. */
    String incarnation() {
        return Integer.toHexString(System.identityHashCode(this)) + "-" + startedAt;
    }

    Duration uptime() {
        return Duration.ofNanos(clock.getAsLong() - startedAt);
    }

    boolean raise(Claim claim, long token, long votesNumber) {
        tokens.raise(token);
        return step(claim.key(), entry -> entry.show(claim, token, votesNumber, clock.getAsLong(), notices));
    }

    /** The next held locks in the order of their keys, of which there are never more in hand than a part has. */
    LockPage list(String prefix, String from) {
        TreeSet<String> keys = new TreeSet<>();
        for (String key : entries.keySet()) {
            if (key.startsWith(prefix) && key.compareTo(from) > 0) {
                keys.add(key);
                if (keys.size() > PAGE) {
                    keys.pollLast();
                }
            }
        }
        List<LockInfo.Held> held =
                keys.stream().flatMap(key -> inspect(key).held().stream()).toList();
        return new LockPage(held, keys.size() < PAGE ? "" : keys.last());
    }

    int size() {
        return entries.size();
    }

    ClaimResult claim(InMemoryLockBackend from, Claim claim) {
        return step(claim.key(), entry -> entry.claim(claim, Entry.NO_TICKET, 0, from, clock.getAsLong(), notices));
    }

    Vote vote(InMemoryLockBackend from, Claim claim, long ticket, long proposal, Duration longestLease) {
        return step(claim.key(), entry -> {
            long now = clock.getAsLong();
            boolean counts = uptime().compareTo(longestLease) >= 0;
            ClaimResult result = entry.claim(claim, ticket, counts ? proposal : 0, from, now, notices);
            return entry.vote(claim, result, incarnation(), uptime(), now);
        });
    }

    RenewalResult renew(List<Claim> held) {
        Set<String> renewed = new HashSet<>();
        Map<String, LossReason> lost = new HashMap<>();
        for (Claim claim : held) {
            Optional<LossReason> loss = step(claim.key(), entry -> entry.renew(claim, clock.getAsLong(), notices));
            loss.ifPresentOrElse(reason -> lost.put(claim.id(), reason), () -> renewed.add(claim.id()));
        }
        return new RenewalResult(renewed, lost);
    }

    boolean release(Claim claim) {
        return step(claim.key(), entry -> entry.release(claim, clock.getAsLong(), notices));
    }

    boolean keep(Claim from, Claim to) {
        return step(from.key(), entry -> entry.keep(from, to, clock.getAsLong(), notices));
    }

    boolean forceRelease(String key, long token) {
        return step(key, entry -> entry.forceRelease(token, clock.getAsLong(), notices));
    }

    boolean recall(String key) {
        return step(key, entry -> {
            entry.recall(notices);
            return true;
        });
    }

    LockInfo inspect(String key) {
        return step(key, entry -> entry.inspect(key, clock.getAsLong()));
    }

    void listen(InMemoryLockBackend connection, FluxSink<Signal> sink) {
        notices.listen(connection, sink);
        notices.tell();
    }

    void watch(InMemoryLockBackend connection, String key, FluxSink<LockEvent> sink) {
        LockInfo watched = step(key, entry -> {
            LockInfo info = entry.inspect(key, clock.getAsLong());
            notices.watch(connection, sink, info);
            return info;
        });
        sink.onDispose(() -> {
            notices.unwatch(watched.key(), sink);
            notices.tell();
        });
    }

    void disconnect(InMemoryLockBackend connection, RuntimeException reason) {
        notices.disconnect(connection, reason);
        notices.tell();
    }

    private <T> T step(String key, Function<Entry, T> command) {
        Step<T> step = new Step<>(command, tokens);
        if (!entries.containsKey(key)) { // for compute() would make a node of its own for this
            entries.putIfAbsent(key, new Entry(tokens));
        }
        entries.compute(key, step);
        notices.tell();
        return Objects.requireNonNull(step.answer, "answer");
    }

    /** A command on its way through its key, and its answer. */
    private static final class Step<T> implements BiFunction<String, @Nullable Entry, @Nullable Entry> {

        private final Function<Entry, T> command;
        private final Tokens tokens;
        private @Nullable T answer;

        Step(Function<Entry, T> command, Tokens tokens) {
            this.command = command;
            this.tokens = tokens;
        }

        @Override
        public @Nullable Entry apply(String key, @Nullable Entry present) {
            Entry entry = present == null ? new Entry(tokens) : present;
            answer = command.apply(entry);
            return entry.isEmpty() ? null : entry;
        }
    }
}
