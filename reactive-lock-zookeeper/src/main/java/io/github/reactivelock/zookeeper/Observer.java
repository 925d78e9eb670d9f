package io.github.reactivelock.zookeeper;

import io.github.reactivelock.spi.LockPage;
import io.github.reactivelock.spi.queue.PlaceQueue;
import io.github.reactivelock.spi.support.EndlessRetry;
import io.github.reactivelock.spi.support.NamedLocks;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Looking at a lock without a claim of one's own: its state, its changes, and taking it from its owner. */
final class Observer {

    private static final Duration PAUSE = Duration.ofMillis(100);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);
    private static final int AT_ONCE = 16;

    private final Connection connection;
    private final Nodes nodes;
    private final Watches watches;
    private final KeyLayout names;

    Observer(Connection connection, Nodes nodes, Watches watches, KeyLayout names) {
        this.connection = connection;
        this.nodes = nodes;
        this.watches = watches;
        this.names = names;
    }

    /** The lock as it is, the queue that shows it, and those of its holders that were read, the newest first. */
    private record Look(LockInfo info, PlaceQueue<SequenceNode> queue, List<Nodes.Held> holders) {}

    Mono<LockInfo> inspect(String key) {
        return look(key, nodes.latestQueue(key), LockInfo.Held.MOST_SHOWN)
                .flatMap(look -> look.info instanceof LockInfo.Held held
                        ? waiting(key, look.queue).map(queue -> with(queue, held))
                        : Mono.just(look.info));
    }

    Mono<Void> probe(String key) {
        return nodes.requireCreatable(key).then(inspect(key)).then();
    }

    /**
     * Since when they wait is not known: the server dates a node by its own clock, and does not tell the time of that.
     */
    private Mono<List<LockInfo.Waiting>> waiting(String key, PlaceQueue<SequenceNode> queue) {
        return read(key, queue.waiting().stream().limit(LockInfo.Held.MOST_SHOWN))
                .map(waiting -> new LockInfo.Waiting(waiting.read().content().owner(), null))
                .collectList();
    }

    /** In their order, without those that have gone. */
    private Flux<Nodes.Held> read(String key, Stream<SequenceNode> places) {
        return Flux.fromStream(places).flatMapSequential(place -> read(key, place), AT_ONCE);
    }

    private Mono<Nodes.Held> read(String key, SequenceNode place) {
        return nodes.read(names.claim(key, place.name())).map(read -> new Nodes.Held(place, read));
    }

    private static LockInfo with(List<LockInfo.Waiting> queue, LockInfo.Held held) {
        return new LockInfo.Held(
                held.key(),
                held.owner(),
                held.fencingToken(),
                held.remaining(),
                held.waiters(),
                held.age(),
                queue,
                held.shares(),
                held.recallable());
    }

    Mono<LockPage> list(String prefix, String from) {
        return nodes.locks()
                .flatMap(all -> NamedLocks.page(
                        all.stream()
                                .filter(node -> KeyLayout.key(node).startsWith(prefix)
                                        && !KeyLayout.key(node).isEmpty()),
                        from,
                        node -> shown(KeyLayout.key(node))));
    }

    private Mono<LockInfo> shown(String key) {
        return look(key, nodes.queue(key), LockInfo.Held.MOST_SHOWN).map(Look::info);
    }

    private Mono<Look> look(String key, Mono<PlaceQueue<SequenceNode>> asked, long most) {
        return asked.flatMap(queue -> {
            if (queue.held().isEmpty()) {
                return Mono.just(new Look(new LockInfo.Free(key), queue, List.of()));
            }
            return read(key, queue.newestHolders().limit(most))
                    .collectList()
                    .flatMap(holders -> holders.isEmpty()
                            // They went between the two questions.
                            ? look(key, asked, most)
                            : Mono.just(new Look(held(key, queue, holders, most), queue, holders)));
        });
    }

    private static LockInfo held(String key, PlaceQueue<SequenceNode> queue, List<Nodes.Held> holders, long most) {
        Nodes.Held newest = holders.get(0);
        return new LockInfo.Held(
                key,
                newest.read().content().owner(),
                newest.read().node().token(),
                newest.read().content().lease(),
                queue.waiting().size(),
                null,
                List.of(),
                newest.place().share().isWhole() ? null : shares(queue, holders, most),
                newest.place().isRecallable() && newest.read().isRecallable());
    }

    /** Who went between the two questions is not counted. */
    private static LockInfo.Shares shares(PlaceQueue<SequenceNode> queue, List<Nodes.Held> holders, long most) {
        Set<SequenceNode> gone = queue.newestHolders().limit(most).collect(Collectors.toSet());
        holders.forEach(holder -> gone.remove(holder.place()));
        long units = queue.units()
                - gone.stream().mapToLong(place -> place.share().units()).sum();
        List<LockInfo.Holder> first = holders.stream()
                .limit(LockInfo.Held.MOST_SHOWN)
                .map(holder -> new LockInfo.Holder(
                        holder.read().content().owner(),
                        holder.place().share().units(),
                        holder.read().node().token(),
                        holder.read().content().lease()))
                .toList();
        return new LockInfo.Shares(
                (int) Math.min(units, Integer.MAX_VALUE), queue.held().size() - gone.size(), first);
    }

    Flux<LockEvent> events(String key) {
        return Flux.defer(() -> {
                    Events events = new Events(key);
                    return watches.below(names.lock(key)).concatMap(events::happened);
                })
                .retryWhen(EndlessRetry.after(PAUSE, LONGEST_PAUSE)
                        .filter(error -> !connection.isClosed() && isPassing(error)));
    }

    /** A backend or a client that is closed is never open again. */
    private static boolean isPassing(Throwable error) {
        return !(error.getCause() instanceof IllegalStateException
                || error.getCause() instanceof KeeperException.NoAuthException
                || error.getCause() instanceof KeeperException.AuthFailedException);
    }

    /** Deletes the node of that token if it holds the lock, and tells its client if it listens. */
    Mono<Boolean> forceRelease(String key, long fencingToken) {
        return nodes.holder(key, fencingToken)
                .flatMap(held -> force(
                        key,
                        held.read().node().path(),
                        held.place().claimId(),
                        held.read().content().client()))
                .defaultIfEmpty(false);
    }

    private Mono<Boolean> force(String key, String path, String claimId, String session) {
        int interruptions = connection.interruptions();
        return nodes.delete(path).flatMap(deleted -> {
            if (!deleted && connection.interruptions() == interruptions) {
                return Mono.just(false);
            }
            // Curator may have repeated a deletion whose answer was lost, or the holder has released the lock.
            Mono<Boolean> told = deleted
                    ? Mono.just(true)
                    : Mono.error(() -> ZooKeeperFailure.unclear(connection.servers(), "'" + key + "' was still held"));
            return tell(session, claimId).then(told);
        });
    }

    private Mono<Void> tell(String session, String claimId) {
        return session.isEmpty()
                ? Mono.empty()
                : nodes.notice(names.notice(session), claimId).onErrorComplete();
    }

    /** The claims on a lock as a watch has shown them so far. Used by one subscription, one event at a time. */
    private final class Events {

        private final String key;
        private final String below;
        private final Set<String> queue = new HashSet<>();
        /** The holders that were reported, with their tokens; zero for one that went too soon. */
        private final Map<SequenceNode, Long> holders = new LinkedHashMap<>();

        private @Nullable SequenceNode newest;

        Events(String key) {
            this.key = key;
            this.below = names.lock(key) + "/";
        }

        Flux<LockEvent> happened(WatchedEvent event) {
            if (event == WatchesBelow.BEGUN) { // by a server that may be behind the leader
                return look(key, nodes.latestQueue(key), Long.MAX_VALUE)
                        .map(this::begin)
                        .cast(LockEvent.class)
                        .flux();
            }
            String path = event.getPath();
            if (path != null && path.equals(names.lock(key)) && event.getType() == EventType.NodeDeleted) {
                return beginAnew();
            }
            if (path == null || !path.startsWith(below)) {
                return Flux.empty();
            }
            SequenceNode place = SequenceNode.of(path.substring(below.length()));
            if (place == null) {
                return Flux.empty();
            }
            if (event.getType() == EventType.NodeCreated && (newest == null || newest.isBefore(place))) {
                newest = place;
                queue.add(place.name());
            } else if (event.getType() == EventType.NodeDeleted) {
                queue.remove(place.name());
            }
            return tell(SequenceNode.queue(List.copyOf(queue)).held());
        }

        /**
         * The server removes a lock that was free for a while, and numbers its claims from zero when there is a lock
         * again. What follows may have happened before this look, so the new numbers are taken from it.
         */
        private Flux<LockEvent> beginAnew() {
            queue.clear();
            holders.clear();
            return look(key, nodes.queue(key), Long.MAX_VALUE)
                    .map(this::begin)
                    .filter(seen -> seen.info() instanceof LockInfo.Held)
                    .cast(LockEvent.class)
                    .flux();
        }

        private LockEvent.Snapshot begin(Look look) {
            List<SequenceNode> places = look.queue.places();
            places.forEach(place -> queue.add(place.name()));
            newest = places.isEmpty() ? null : places.get(places.size() - 1);
            look.queue.held().forEach(place -> holders.put(place, 0L));
            look.holders.forEach(
                    holder -> holders.put(holder.place(), holder.read().node().token()));
            return new LockEvent.Snapshot(look.info);
        }

        private Flux<LockEvent> tell(List<SequenceNode> held) {
            Set<SequenceNode> present = new HashSet<>(held);
            List<LockEvent> released = new ArrayList<>();
            for (SequenceNode gone : List.copyOf(holders.keySet())) {
                if (!present.contains(gone)) {
                    long token = Objects.requireNonNull(holders.remove(gone));
                    if (token != 0) {
                        released.add(
                                new LockEvent.Released(key, token, gone.share().units()));
                    }
                }
            }
            List<SequenceNode> entered =
                    held.stream().filter(place -> !holders.containsKey(place)).toList();
            return Flux.fromIterable(released)
                    .concatWith(Flux.fromIterable(entered).concatMap(this::acquired));
        }

        /** A holder that is gone before it could be read is passed over. */
        private Mono<LockEvent> acquired(SequenceNode place) {
            holders.put(place, 0L);
            return read(key, place).map(holder -> {
                long token = holder.read().node().token();
                holders.put(place, token);
                return new LockEvent.Acquired(
                        key,
                        holder.read().content().owner(),
                        token,
                        place.share().units());
            });
        }
    }
}
