package io.github.reactivelock.zookeeper;

import io.github.reactivelock.spi.LockPage;
import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** Looking at a lock without a claim of one's own: its state, its changes, and taking it from its owner. */
final class Observer {

    private static final Duration PAUSE = Duration.ofMillis(100);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);
    private static final int PART = 500;
    private static final int AT_ONCE = 16;

    private final Connection connection;
    private final Nodes nodes;
    private final Watches watches;
    private final KeyLayout names;

    Observer(Connection connection, Nodes nodes, KeyLayout names) {
        this.connection = connection;
        this.nodes = nodes;
        this.watches = new Watches(connection);
        this.names = names;
    }

    /** The lock as it is, and the names it was told from. */
    private record Look(LockInfo info, List<String> line) {}

    Mono<LockInfo> inspect(String key) {
        return look(key, nodes.latestLine(key))
                .flatMap(look -> look.info instanceof LockInfo.Held held
                        ? queue(key, look.line).map(queue -> with(queue, held))
                        : Mono.just(look.info));
    }

    /** Since when they wait is not known: the server dates a node by its own clock, and does not tell the time of that. */
    private Mono<List<LockInfo.Waiting>> queue(String key, List<String> line) {
        List<SequenceNode> places = line.stream()
                .map(SequenceNode::of)
                .filter(Objects::nonNull)
                .sorted((one, other) -> one.isBefore(other) ? -1 : 1)
                .toList();
        return Flux.fromStream(places.stream().skip(1).limit(LockInfo.Held.MOST_SHOWN))
                .flatMapSequential(place -> nodes.read(names.claim(key, place.name())), AT_ONCE)
                .map(read -> new LockInfo.Waiting(read.content().owner(), null))
                .collectList();
    }

    private static LockInfo with(List<LockInfo.Waiting> queue, LockInfo.Held held) {
        return new LockInfo.Held(
                held.key(), held.owner(), held.fencingToken(), held.remaining(), held.waiters(), held.age(), queue);
    }

    Mono<LockPage> list(String prefix, String from) {
        return nodes.locks().flatMap(all -> {
            List<String> part = all.stream()
                    .filter(node -> node.compareTo(from) > 0
                            && KeyLayout.key(node).startsWith(prefix)
                            && !KeyLayout.key(node).isEmpty())
                    .sorted()
                    .limit(PART)
                    .toList();
            return Flux.fromIterable(part)
                    .map(KeyLayout::key)
                    .flatMap(key -> look(key, nodes.line(key)).map(Look::info), AT_ONCE)
                    .ofType(LockInfo.Held.class)
                    .collectList()
                    .map(held -> new LockPage(held, part.size() < PART ? "" : part.get(PART - 1)));
        });
    }

    private Mono<Look> look(String key, Mono<List<String>> asked) {
        return asked.flatMap(line -> {
            SequenceNode first = SequenceNode.first(line);
            if (first == null) {
                return Mono.just(new Look(new LockInfo.Free(key), line));
            }
            long waiters =
                    line.stream().filter(name -> SequenceNode.of(name) != null).count() - 1;
            return nodes.read(names.claim(key, first.name()))
                    .map(owner -> new Look(held(key, owner, waiters), line))
                    // It went between the two questions.
                    .switchIfEmpty(Mono.defer(() -> look(key, asked)));
        });
    }

    private static LockInfo held(String key, Nodes.Read owner, long waiters) {
        return new LockInfo.Held(
                key,
                owner.content().owner(),
                owner.node().token(),
                owner.content().lease(),
                waiters);
    }

    Flux<LockEvent> events(String key) {
        return Flux.defer(() -> {
                    Following following = new Following(key);
                    return watches.below(names.lock(key)).concatMap(following::happened);
                })
                .retryWhen(Retry.backoff(Long.MAX_VALUE, PAUSE)
                        .scheduler(DriverThreads.timer())
                        .maxBackoff(LONGEST_PAUSE)
                        .transientErrors(true)
                        .filter(error -> !connection.isClosed() && isPassing(error)));
    }

    private static boolean isPassing(Throwable error) {
        return !(error.getCause() instanceof KeeperException.NoAuthException
                || error.getCause() instanceof KeeperException.AuthFailedException);
    }

    /** Deletes the owner's node if it is the one of that token, and tells the owner's client if it listens. */
    Mono<Boolean> forceRelease(String key, long fencingToken) {
        return nodes.latestLine(key).flatMap(line -> {
            SequenceNode first = SequenceNode.first(line);
            if (first == null) {
                return Mono.just(false);
            }
            String path = names.claim(key, first.name());
            return nodes.read(path)
                    .filter(owner -> owner.node().token() == fencingToken)
                    .flatMap(owner -> end(path, first.claimId(), owner.content().session()))
                    .defaultIfEmpty(false);
        });
    }

    private Mono<Boolean> end(String path, String claimId, String session) {
        int interruptions = connection.interruptions();
        return nodes.delete(path)
                // Curator may have repeated a deletion whose answer was lost.
                .map(deleted -> deleted || connection.interruptions() != interruptions)
                .delayUntil(ended -> ended ? tell(session, claimId) : Mono.empty());
    }

    private Mono<Void> tell(String session, String claimId) {
        return session.isEmpty()
                ? Mono.empty()
                : nodes.notice(names.notice(session), claimId).onErrorComplete();
    }

    /** The claims on a lock as a watch has shown them so far. Used by one subscription, one event at a time. */
    private final class Following {

        private final String key;
        private final String below;
        private final Set<String> line = new HashSet<>();
        private @Nullable SequenceNode owner;
        private long token;

        Following(String key) {
            this.key = key;
            this.below = names.lock(key) + "/";
        }

        Flux<LockEvent> happened(WatchedEvent event) {
            if (event == Watches.BEGUN) {
                return look(key, nodes.line(key)).map(this::begin).flux();
            }
            String path = event.getPath();
            if (path == null || !path.startsWith(below)) {
                return Flux.empty();
            }
            SequenceNode place = SequenceNode.of(path.substring(below.length()));
            if (place == null) {
                return Flux.empty();
            }
            if (event.getType() == EventType.NodeCreated && (owner == null || owner.isBefore(place))) {
                line.add(place.name());
            } else if (event.getType() == EventType.NodeDeleted) {
                line.remove(place.name());
            }
            SequenceNode first = SequenceNode.first(List.copyOf(line));
            return Objects.equals(first, owner) ? Flux.empty() : tell(first);
        }

        private LockEvent begin(Look look) {
            line.addAll(look.line);
            owner = SequenceNode.first(look.line);
            token = look.info instanceof LockInfo.Held held ? held.fencingToken() : 0;
            return new LockEvent.Snapshot(look.info);
        }

        private Flux<LockEvent> tell(@Nullable SequenceNode first) {
            Flux<LockEvent> released = token == 0 ? Flux.empty() : Flux.just(new LockEvent.Released(key, token));
            owner = first;
            token = 0;
            return first == null ? released : released.concatWith(acquired(first));
        }

        /** An owner that is gone before it could be read is passed over. */
        private Mono<LockEvent> acquired(SequenceNode first) {
            return nodes.read(names.claim(key, first.name())).map(read -> {
                token = read.node().token();
                return new LockEvent.Acquired(key, read.content().owner(), token);
            });
        }
    }
}
