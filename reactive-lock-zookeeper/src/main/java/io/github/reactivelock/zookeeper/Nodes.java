package io.github.reactivelock.zookeeper;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.queue.Content;
import io.github.reactivelock.spi.queue.Entered;
import io.github.reactivelock.spi.queue.PlaceQueue;
import io.github.reactivelock.spi.support.Departures.Rank;
import io.github.reactivelock.spi.support.Together;
import io.github.reactivelock.state.LossReason;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.curator.x.async.AsyncCuratorFramework;
import org.apache.curator.x.async.api.CreateOption;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.NoNodeException;
import org.apache.zookeeper.KeeperException.NodeExistsException;
import org.apache.zookeeper.data.Stat;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** What is asked of ZooKeeper about nodes, each as a cold Mono that sends its commands in one burst. */
final class Nodes {

    private static final int ATTEMPTS_TO_MAKE_PARENTS = 3;
    private static final Set<CreateOption> PLAIN = Set.of(CreateOption.uncompress);
    private static final byte[] NOTHING = {};

    /** As many nodes as a renewal looks at. */
    private static final int OF_ONE_BURST = 500;

    private final Connection connection;
    private final KeyLayout names;
    /** By the lock's path. Each asker says whether the answer is known to fit into the client's buffer. */
    private final Together<Boolean, List<Counted>> looks;

    private final Together<Boolean, List<Counted>> latestLooks;
    /** By the path of the node. */
    private final Together<String, Map<String, Node>> checks;

    Nodes(Connection connection, KeyLayout names) {
        this.connection = connection;
        this.names = names;
        this.looks = new Together<>(
                "looking at a queue",
                Integer.MAX_VALUE,
                (lock, leaving) -> connection.send(
                        Rank.LOOK, async -> leaving.get().contains(true) ? counted(async, lock) : count(async, lock)));
        this.latestLooks = new Together<>(
                "looking at a queue behind a write",
                Integer.MAX_VALUE,
                (lock, leaving) -> latest(Rank.LOOK, async -> {
                            List<Boolean> unused = leaving.get();
                            return List.of(count(async, lock));
                        })
                        .map(answers -> answers.get(0)));
        this.checks = new Together<>(
                "looking at nodes behind a write",
                OF_ONE_BURST,
                (all, leaving) -> latest(
                                Rank.LOOK,
                                async -> leaving.get().stream()
                                        .map(path -> look(async, path))
                                        .toList())
                        .map(found -> found.stream()
                                .collect(Collectors.toMap(Node::path, Function.identity(), (one, same) -> one))));
    }

    /** Nodes as they were when the leader had been asked, in the order of the question, and the session that asked. */
    record Checked(List<Node> found, long session) {
        /** Whether a node is the one that was known, and the present session still keeps it. */
        boolean keeps(int index, Node known) {
            return found.get(index).czxid() == known.czxid() && session == known.session();
        }

        /** Why a node that is not kept is lost. */
        LossReason loss(Node known) {
            return session == known.session() ? LossReason.EXPIRED : LossReason.SESSION_LOST;
        }
    }

    /** A node with what it holds, and how often it was written to since it was made. */
    record Read(Node node, Content content, int writes) {
        /** Whether the client can be called, for a claim with the mark of that in its name. */
        boolean isRecallable() {
            return writes == 0;
        }
    }

    /** A claim that holds its lock. */
    record Held(SequenceNode place, Read read) {}

    /** Makes a claim's node, and the lock's if need be. The answer may come very late. */
    Mono<Entered<SequenceNode, Node>> create(Claim claim, Content content, BooleanSupplier isWanted) {
        String lock = names.lock(claim.key());
        byte[] data = KeyLayout.bytes(content.text());
        return connection
                .send(
                        Rank.OTHER,
                        async -> !isWanted.getAsBoolean()
                                ? CompletableFuture.completedFuture(List.<Made>of())
                                : connection.roomForNames(async, lock).thenCompose(room -> {
                                    Stat stat = new Stat();
                                    CompletionStage<String> created = async.create()
                                            .withOptions(PLAIN, CreateMode.EPHEMERAL_SEQUENTIAL, null, stat)
                                            .forPath(names.claim(claim, content.client()), data);
                                    Look look = lookBehind(lock);
                                    return created.thenApply(path -> List.of(new Made(Node.of(path, stat), look)));
                                }))
                .flatMap(made -> made.isEmpty()
                        ? Mono.<Entered<SequenceNode, Node>>empty()
                        : made.get(0).entered())
                .retryWhen(Retry.max(ATTEMPTS_TO_MAKE_PARENTS)
                        .filter(NoNodeException.class::isInstance)
                        .doBeforeRetryAsync(signal -> makeLock(lock))
                        .onRetryExhaustedThrow((retry, signal) -> signal.failure()));
    }

    /** A node, and a look that left after the creation did. */
    private record Made(Node node, Look look) {
        Mono<Entered<SequenceNode, Node>> entered() {
            return look.queue().map(queue -> new Entered<>(node, queue));
        }
    }

    /** A look at a queue that is on its way, or about to be. */
    private record Look(Mono<List<Counted>> answer) {
        Mono<PlaceQueue<SequenceNode>> queue() {
            return answer.map(Nodes::queue);
        }
    }

    /** Called where a command leaves: what is asked for here leaves after that, and is one question for many. */
    private Look lookBehind(String lock) {
        return new Look(looks.join(lock, true));
    }

    private static PlaceQueue<SequenceNode> queue(List<Counted> found) {
        return found.isEmpty() ? PlaceQueue.of(List.of()) : found.get(0).queue();
    }

    /** All claims on a lock, and the number that the next one to come will have. */
    record Counted(PlaceQueue<SequenceNode> queue, int next) {
        /** A node's stat shows how many changes there were below it, which are twice what came less what is there. */
        static Counted of(List<String> names, Stat stat) {
            PlaceQueue<SequenceNode> queue = SequenceNode.queue(names);
            List<SequenceNode> places = queue.places();
            boolean isNegative =
                    !places.isEmpty() && places.get(places.size() - 1).number() < 0;
            int came = (stat.getCversion() + stat.getNumChildren()) >>> 1;
            return new Counted(queue, isNegative ? came | Integer.MIN_VALUE : came);
        }
    }

    /** As {@link #queue}, with the number of the next claim. The lock's node is made if need be. */
    Mono<Counted> counted(String key) {
        String lock = names.lock(key);
        return connection.within(looks.ask(lock, false)).flatMap(found -> counted(key, found, this::counted));
    }

    /** As {@link #counted}, after a write that a majority took. */
    Mono<Counted> latestCounted(String key) {
        String lock = names.lock(key);
        return connection
                .within(latestLooks.ask(lock, false))
                .flatMap(found -> counted(key, found, this::latestCounted));
    }

    private Mono<Counted> counted(String key, List<Counted> found, Function<String, Mono<Counted>> again) {
        return found.isEmpty()
                ? connection.within(makeLock(names.lock(key))).then(Mono.defer(() -> again.apply(key)))
                : Mono.just(found.get(0));
    }

    /**
     * Makes a claim's node, in one step, if it gets that number: no other claim came since that was the next one. Empty
     * if it was not made. The answer may come very late.
     */
    Mono<Entered<SequenceNode, Node>> createIfNext(Claim claim, Content content, int number) {
        String lock = names.lock(claim.key());
        String path = names.claim(claim, content.client(), number);
        byte[] data = KeyLayout.bytes(content.text());
        return connection
                .send(
                        Rank.OTHER,
                        async -> connection.roomForNames(async, lock).thenCompose(room -> {
                            CompletionStage<?> created = async.transaction()
                                    .forOperations(List.of(
                                            async.transactionOp()
                                                    .create()
                                                    .withOptions(CreateMode.EPHEMERAL_SEQUENTIAL, null, false)
                                                    .forPath(names.claim(claim, content.client()), data),
                                            async.transactionOp().check().forPath(path)));
                            CompletionStage<Node> made = look(async, path);
                            Look look = lookBehind(lock);
                            return created.thenCombine(made, (done, node) -> new Made(node, look));
                        }))
                .flatMap(Made::entered)
                .onErrorResume(NoNodeException.class, error -> Mono.empty());
    }

    /** Fails if a lock could not be made. The transaction makes none, because its second step always fails. */
    Mono<Void> requireCreatable(String key) {
        String never = names.notice(key);
        return connection
                .ask(
                        Rank.LOOK,
                        async -> ifThere(async.transaction()
                                .forOperations(List.of(
                                        async.transactionOp()
                                                .create()
                                                .withOptions(CreateMode.CONTAINER, null, false)
                                                .forPath(never, NOTHING),
                                        async.transactionOp().check().forPath(never + "/never")))
                                .thenApply(done -> List.of())))
                .then();
    }

    /** A container goes by itself some time after its last child; it may go again before a claim is in it. */
    private Mono<Void> makeLock(String lock) {
        return makeContainer(lock)
                .onErrorResume(
                        NoNodeException.class,
                        error -> makeContainer(names.root()).then(makeContainer(lock)));
    }

    private Mono<Void> makeContainer(String path) {
        return connection
                .send(
                        Rank.OTHER,
                        async -> async.create()
                                .withOptions(PLAIN, CreateMode.CONTAINER)
                                .forPath(path, NOTHING))
                .onErrorResume(NodeExistsException.class, error -> Mono.empty())
                .then();
    }

    /** The claims of a lock, as the server knows them that this client is connected to. */
    Mono<PlaceQueue<SequenceNode>> queue(String key) {
        return connection.within(looks.ask(names.lock(key), false)).map(Nodes::queue);
    }

    /** The names of all nodes below the root, after a write that a majority took. */
    Mono<List<String>> locks() {
        return connection
                .within(latest(Rank.LOOK, async -> List.of(children(async, names.root()))))
                .map(answers -> answers.get(0));
    }

    /** As {@link #queue}, after a write that a majority took. */
    Mono<PlaceQueue<SequenceNode>> latestQueue(String key) {
        return connection.within(latestLooks.ask(names.lock(key), false)).map(Nodes::queue);
    }

    /**
     * Answers that are as new as a write which a majority has just taken. Where the connection is there again just
     * then, Curator sends the questions first; an answer that came before the write's may be old, and all are asked for
     * again.
     */
    private <T> Mono<List<T>> latest(Rank rank, Function<AsyncCuratorFramework, List<CompletionStage<T>>> questions) {
        return connection
                .send(rank, async -> {
                    CompletableFuture<?> caughtUp = write(async).toCompletableFuture();
                    AtomicBoolean early = new AtomicBoolean();
                    List<CompletableFuture<T>> answers = questions.apply(async).stream()
                            .map(question -> question.thenApply(answer -> {
                                        if (!caughtUp.isDone()) {
                                            early.set(true);
                                        }
                                        return answer;
                                    })
                                    .toCompletableFuture())
                            .toList();
                    return CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new))
                            .thenCombine(
                                    caughtUp,
                                    (all, done) -> early.get()
                                            ? Optional.<List<CompletableFuture<T>>>empty()
                                            : Optional.of(answers));
                })
                .flatMap(answers -> answers.isPresent()
                        ? Mono.just(answers.get().stream()
                                .map(CompletableFuture::join)
                                .toList())
                        : latest(rank, questions));
    }

    /**
     * A write that changes nothing. A session's commands are carried out in their order, so what is read after it is as
     * new. ZooKeeper.sync proves less: a leader answers it at once, before it has itself applied what followers have
     * told their clients already, and without asking whether a majority still follows it.
     */
    private CompletionStage<?> write(AsyncCuratorFramework async) {
        return ifThere(async.transaction()
                .forOperations(List.of(async.transactionOp().check().forPath(names.root())))
                .thenApply(done -> List.of()));
    }

    /**
     * The node of the claim that holds a lock, or a share of it, under a token, as the leader knows it; empty if there
     * is none.
     */
    Mono<Held> holder(String key, long token) {
        return latestQueue(key).flatMap(queue -> find(key, queue.held(), token));
    }

    /** Tokens rise along the queue. */
    private Mono<Held> find(String key, List<SequenceNode> held, long token) {
        if (held.isEmpty()) {
            return Mono.empty();
        }
        int middle = held.size() / 2;
        SequenceNode place = held.get(middle);
        List<SequenceNode> before = held.subList(0, middle);
        List<SequenceNode> after = held.subList(middle + 1, held.size());
        return read(names.claim(key, place.name()))
                .map(Optional::of)
                .defaultIfEmpty(Optional.empty())
                .flatMap(found -> {
                    if (found.isEmpty()) { // it went in between
                        return find(key, before, token).switchIfEmpty(Mono.defer(() -> find(key, after, token)));
                    }
                    long there = found.get().node().token();
                    return there == token
                            ? Mono.just(new Held(place, found.get()))
                            : find(key, token < there ? before : after, token);
                });
    }

    /**
     * Looks at the nodes of holds after a write, which proves that a majority still knows the session. Leaves before
     * what claims that wait have to ask.
     */
    Mono<Checked> check(List<String> paths) {
        return connection
                .within(latest(
                        Rank.HOLD,
                        async -> paths.stream().map(path -> look(async, path)).toList()))
                .flatMap(this::checked);
    }

    /** As {@link #check}, for one node of a claim that has no hold: those of many are looked at in one burst. */
    Mono<Checked> checkOne(String path) {
        return connection
                .within(checks.ask("", path))
                .flatMap(found -> checked(List.of(found.getOrDefault(path, Node.absent(path)))));
    }

    private Mono<Checked> checked(List<Node> found) {
        return connection.session().map(session -> new Checked(found, session));
    }

    private static CompletionStage<Node> look(AsyncCuratorFramework async, String path) {
        return async.checkExists()
                .forPath(path)
                .thenApply(stat -> stat == null ? Node.absent(path) : Node.of(path, stat));
    }

    /** Empty if the node is not there. */
    Mono<Read> read(String path) {
        return connection
                .ask(Rank.LOOK, async -> {
                    Stat stat = new Stat();
                    CompletionStage<byte[]> data =
                            async.getData().undecompressedStoringStatIn(stat).forPath(path);
                    return ifThere(data.thenApply(bytes -> List.of(
                            new Read(Node.of(path, stat), Content.parse(KeyLayout.text(bytes)), stat.getVersion()))));
                })
                .flatMap(found -> Mono.justOrEmpty(found.stream().findFirst()));
    }

    /** Whether it was there. */
    Mono<Boolean> delete(String path) {
        return connection
                .ask(Rank.END, async -> ifThere(async.delete().forPath(path).thenApply(done -> List.of(path))))
                .map(deleted -> !deleted.isEmpty());
    }

    Mono<Void> deleteAll(String key, List<SequenceNode> places) {
        return Flux.fromIterable(places)
                .flatMap(place -> delete(names.claim(key, place.name())))
                .then();
    }

    /** Makes sure that this session's notice node is there. */
    Mono<Void> makeNotice(String path) {
        Mono<String> make = connection.ask(
                Rank.HOLD,
                async -> async.create().withOptions(PLAIN, CreateMode.EPHEMERAL).forPath(path, NOTHING));
        return make.onErrorResume(
                        error -> isCause(error, NoNodeException.class),
                        error -> connection.within(makeContainer(names.root())).then(make))
                .onErrorResume(
                        error -> isCause(error, NodeExistsException.class),
                        error -> check(List.of(path))
                                .flatMap(checked -> checked.found().get(0).session() == checked.session()
                                        ? Mono.just(path)
                                        : delete(path).then(make)))
                .then();
    }

    /** Tells one client something, if it is there. */
    Mono<Void> notice(String path, String text) {
        return write(path, text);
    }

    /** Only the number of its writes changes. */
    Mono<Void> writeAgain(Read read) {
        return write(read.node().path(), read.content().text());
    }

    /** As {@link #notice}, of an owner that is to be called back; nothing if it is not there or cannot be. */
    Mono<Void> recall(String owner, String path, String text) {
        Mono<List<Object>> asked = connection.ask(
                Rank.END,
                async -> ifThere(async.transaction()
                        .forOperations(List.of(
                                async.transactionOp().check().withVersion(0).forPath(owner),
                                async.transactionOp().setData().uncompressed().forPath(path, KeyLayout.bytes(text))))
                        .thenApply(done -> List.of())));
        return asked.onErrorResume(
                        error -> isCause(error, KeeperException.BadVersionException.class), error -> Mono.empty())
                .then();
    }

    private Mono<Void> write(String path, String text) {
        return connection
                .ask(
                        Rank.END,
                        async -> ifThere(async.setData()
                                .uncompressed()
                                .forPath(path, KeyLayout.bytes(text))
                                .thenApply(stat -> List.of(path))))
                .then();
    }

    /** Empty if the lock has no node. Curator's asynchronous face keeps the stat to itself. */
    private CompletionStage<List<Counted>> count(AsyncCuratorFramework async, String lock) {
        return connection.roomForNames(async, lock).thenCompose(room -> counted(async, lock));
    }

    private static CompletionStage<List<Counted>> counted(AsyncCuratorFramework async, String lock) {
        return Watches.answer(
                lock,
                event ->
                        event.getStat() == null ? List.of() : List.of(Counted.of(event.getChildren(), event.getStat())),
                heard -> async.unwrap().getChildren().inBackground(heard).forPath(lock));
    }

    private CompletionStage<List<String>> children(AsyncCuratorFramework async, String lock) {
        return connection.roomForNames(async, lock).thenCompose(room -> allChildren(async, lock));
    }

    private static CompletionStage<List<String>> allChildren(AsyncCuratorFramework async, String lock) {
        return ifThere(async.getChildren().forPath(lock));
    }

    private static <T> CompletionStage<List<T>> ifThere(CompletionStage<List<T>> answer) {
        Function<Throwable, List<T>> nothing = error -> {
            Throwable cause =
                    error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
            if (cause instanceof NoNodeException) {
                return List.of();
            }
            throw new CompletionException(cause);
        };
        return answer.exceptionally(nothing);
    }

    private static boolean isCause(Throwable error, Class<? extends KeeperException> type) {
        return type.isInstance(error.getCause());
    }
}
