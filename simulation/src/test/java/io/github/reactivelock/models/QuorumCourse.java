package io.github.reactivelock.models;

import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.quorum.QuorumLockBackend;
import io.github.reactivelock.quorum.SimulatedQuorum;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.state.LockInfo;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Scheduler;

/**
 * Three claims, each of a quorum client of its own and the last of which tries, at three stores in the process. What a
 * claim tells a node waits until chance has the node carry it out. Written down are the steps, in the words of
 * {@code models/Quorum.tla}, and after each what waits and who has each node's vote.
 */
final class QuorumCourse {

    private static final int CLAIMS = 3;
    private static final int NODES = 3;
    private static final int STEPS = 120;
    private static final Duration LEASE = Duration.ofSeconds(30);
    /** Tokens and places in the queue are times since then; TLC knows no large numbers. */
    private static final Instant EPOCH = Instant.parse("2020-01-01T00:00:00Z");

    private final Random random;
    private final boolean losing;
    private final long[] clock = {0};
    private final List<InMemoryLockBackend> stores = Stream.generate(() -> InMemoryLockBackend.create(() -> clock[0]))
            .limit(NODES)
            .toList();
    private final List<Asker> askers = new ArrayList<>();
    private final List<String> steps = new ArrayList<>();
    /** What follows is sound and not in the model, so the course ends before it. */
    private boolean leftTheModel;

    private long forcedToken;
    private final List<Integer> toForce = new ArrayList<>();

    /**
     * A course.
     *
     * @param losing nearly every round's answer, in a longer course of two claims of which one has a vote and does
     *     little: the other runs out of patience
     */
    QuorumCourse(long seed, boolean losing) {
        this.random = new Random(seed);
        this.losing = losing;
        clock[0] = LEASE.toNanos(); // all of them count
        for (int claim = 1; claim <= CLAIMS; claim++) {
            askers.add(new Asker(claim));
        }
    }

    void run() {
        if (losing) {
            askers.get(1).ask();
            askers.get(1).work(random.nextInt(NODES));
        }
        for (int step = 0; step < (losing ? 6 * STEPS : STEPS) && !leftTheModel; step++) {
            step();
        }
    }

    String text() {
        return "<<" + String.join(",\n", steps) + ">>";
    }

    private void step() {
        Asker asker = askers.get(losing ? random.nextInt(16) / 15 : random.nextInt(CLAIMS));
        int node = random.nextInt(NODES);
        int what = random.nextInt(20);
        if (what < 3) {
            asker.ask();
        } else if (what == 3) {
            asker.release();
        } else if (what < 8 && !losing && forcedToken == 0 && asker.phase.equals("held")) {
            forcedToken = asker.token;
            toForce.addAll(List.of(0, 1, 2));
            note("force", asker, 0, 0);
        } else if (what < 10 && !toForce.isEmpty()) {
            int at = toForce.remove(random.nextInt(toForce.size()));
            Boolean unused = stores.get(at).forceRelease("k", forcedToken).block();
            note("forced", null, at + 1, 0);
        } else {
            asker.work(node);
        }
    }

    private void note(String step, Asker by, int node, int lost) {
        if (leftTheModel) {
            return;
        }
        List<LockInfo> seen = stores.stream()
                .map(store -> Objects.requireNonNull(store.inspect("k").block()))
                .toList();
        steps.add("[step |-> \"" + step + "\", claim |-> " + (by == null ? 0 : by.number) + ", node |-> " + node
                + ", lost |-> " + lost + ", token |-> " + (by == null ? "0" : number(by.token))
                + ", phase |-> \"" + (by == null ? "" : by.phase) + "\""
                + ", owner |-> " + Tlc.tuple(seen, info -> info instanceof LockInfo.Held held ? held.owner() : "0")
                + ", shown |-> "
                + Tlc.tuple(seen, info -> info instanceof LockInfo.Held held ? number(held.fencingToken()) : "0")
                + ", sent |-> "
                + Tlc.tuple(askers, asker -> asker.told.toString())
                + "]");
    }

    /** As the stores count tokens. */
    private static String number(long token) {
        return "" + (token >> LockBackend.PASS_BITS);
    }

    /** A timer on which nothing is due but the rests between the rounds of a claim that tries. */
    private record Rests(Consumer<Runnable> begins) implements Scheduler {

        private static final long REST_MILLIS = 5;

        @Override
        public Disposable schedule(Runnable task) {
            return Disposables.disposed();
        }

        @Override
        public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
            if (unit.toMillis(delay) == REST_MILLIS) {
                begins.accept(task);
            }
            return Disposables.single();
        }

        @Override
        public Worker createWorker() {
            return new Worker() {
                @Override
                public Disposable schedule(Runnable task) {
                    return Rests.this.schedule(task);
                }

                @Override
                public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
                    return Rests.this.schedule(task, delay, unit);
                }

                @Override
                public Disposable schedulePeriodically(Runnable task, long first, long period, TimeUnit unit) {
                    return Disposables.single(); // the beats that count silence, of which there is none here
                }

                @Override
                public void dispose() {}
            };
        }
    }

    /** A claim, and the client that makes it. */
    private final class Asker {
        private final int number;
        private final Claim claim;
        private final QuorumLockBackend quorum;
        private final SentMessages told = new SentMessages(NODES);
        private final Deque<Runnable> seen = new ArrayDeque<>();
        private String phase = "resting";
        private long token;
        /** A node carries out what it was told again. */
        private boolean isWorkingAgain;

        private boolean released;
        /** Begins the next round of a claim that tries, whose votes were split. */
        private @Nullable Runnable rest;
        /** An answer of this round; if a majority is lost the claim fails, which the model has not. */
        private boolean hasLost;

        Asker(int number) {
            this.number = number;
            Claim.Mode mode = number == CLAIMS ? Claim.Mode.TRY : Claim.Mode.QUEUE;
            this.claim = new Claim("k", "claim-" + number, "" + number, LEASE, mode);
            List<QuorumNode> nodes =
                    IntStream.range(0, NODES).mapToObj(this::wireTo).toList();
            this.quorum = SimulatedQuorum.of(
                            new Rests(this::rests),
                            () -> number,
                            () -> EPOCH.plusNanos(1_000_000L * number + 1_000L * steps.size()),
                            (from, to) -> from,
                            nodes)
                    .withLongestLease(LEASE);
        }

        /** Of a node's verbs the quorum uses these three here. */
        private QuorumNode wireTo(int node) {
            InMemoryLockBackend store = stores.get(node).connect();
            return (QuorumNode) Proxy.newProxyInstance(
                    QuorumNode.class.getClassLoader(), new Class<?>[] {QuorumNode.class}, (proxy, method, args) -> {
                        return switch (method.getName()) {
                            case "vote" -> {
                                Claim asking = (Claim) args[0];
                                // A node may take a proposal for one that is too far ahead.
                                long taken = random.nextInt(4) == 0 ? 0 : (Long) args[2];
                                yield send(
                                        node,
                                        "vote",
                                        asking.mode() == Claim.Mode.TRY ? "try" : "vote",
                                        (Long) args[2],
                                        store.vote(asking, (Long) args[1], taken, (Duration) args[3]));
                            }
                            case "raise" ->
                                send(
                                        node,
                                        "raise",
                                        "raise",
                                        (Long) args[1],
                                        store.raise((Claim) args[0], (Long) args[1], (Long) args[2]));
                            case "release" -> send(node, "back", "back", 0, store.release((Claim) args[0]));
                            case "hashCode" -> 10 * number + node;
                            case "equals" -> proxy == args[0];
                            default -> throw new UnsupportedOperationException(method.getName());
                        };
                    });
        }

        private <T> Mono<T> send(int node, String what, String text, long token, Mono<T> question) {
            String message = "<<\"" + text + "\", " + number(token) + ">>";
            return Mono.create((MonoSink<T> sink) -> {
                told.leaves(node, what, question, sink);
                boolean isToOne = what.equals("vote") ? isWorkingAgain : what.equals("raise") && phase.equals("held");
                if (isToOne) {
                    told.addToOne(node, message);
                } else {
                    seen.add(() -> sends(node, what, message));
                }
            });
        }

        // ---- what chance has happen

        void ask() {
            Runnable next = rest;
            if (next != null && !told.waits()) {
                rest = null;
                next.run();
                look();
            } else if (next == null
                    && !told.waits()
                    && (phase.equals("resting") || (phase.equals("asking") && !losing))) {
                var unused = quorum.claim(claim)
                        .subscribe(
                                answer -> seen.add(() -> answered(answer)),
                                failure -> seen.add(() -> answered(new ClaimResult.Queued(LEASE))));
                look();
            }
        }

        void release() {
            if (phase.equals("held")) {
                phase = "over";
                var unused = quorum.release(claim).subscribe();
                look();
            }
        }

        void work(int node) {
            SentMessages.Message next = told.arrives(node);
            if (next == null) {
                return;
            }
            boolean isLost = next.what().equals("vote")
                    && phase.equals("asking")
                    && !hasLost
                    && random.nextInt(8) < (losing ? 7 : 1);
            hasLost |= isLost;
            isWorkingAgain = told.isAgain(node);
            (isLost ? next.lost() : next.carriedOut()).run();
            isWorkingAgain = false;
            told.carriedOut(node);
            note("works", this, node + 1, isLost ? 1 : 0);
            look();
        }

        // ---- what follows from it

        /** A round of a claim that tries was split. */
        private void rests(Runnable nextRound) {
            rest = nextRound;
            seen.add(() -> answered(new ClaimResult.Queued(LEASE)));
        }

        private void look() {
            for (Runnable next = seen.poll(); next != null && !leftTheModel; next = seen.poll()) {
                next.run();
            }
            sent();
        }

        private void sends(int node, String what, String message) {
            boolean isAgain = what.equals("back") && phase.equals("resting");
            String step = isAgain ? "vote" : what;
            if (told.isOfOtherStep(step)) {
                sent();
                told.begin(step);
            }
            if (isAgain) {
                told.addAgain(node);
            } else {
                told.add(node, message);
            }
        }

        /** All nodes, or some of them, have been told the same. */
        private void sent() {
            String what = told.end();
            if (what.equals("vote")) {
                // A question that had to wait for its turn asks for what is held, or beside one that is under way.
                leftTheModel |= phase.equals("held") || told.hasTwoVotesAtANode();
                phase = "asking";
                hasLost = false;
                note("asks", this, 0, 0);
            } else if (what.equals("raise")
                    && told.told() == NODES) { // to fewer of them as the votes of the others agree
                phase = "raising";
                note("wins", this, 0, 0);
            } else if (what.equals("back")
                    && claim.mode() == Claim.Mode.TRY
                    && told.told() == NODES
                    && phase.equals("asking")) {
                phase = "busy"; // where votes are given back for want of patience, some node has refused its own
                note("busy", this, 0, 0);
            } else if (what.equals("back")) {
                boolean isRelease = phase.equals("over");
                leftTheModel |= released
                        || phase.equals("busy"); // of a vote that came after the release, which is given back once more
                released = isRelease;
                phase = isRelease ? phase : "giving back";
                note(isRelease ? "releases" : "fails", this, 0, 0);
            }
        }

        private void answered(ClaimResult answer) {
            sent();
            if (phase.equals("resting") || phase.equals("held") || phase.equals("busy")) {
                return; // of several questions that shared a round
            }
            if (answer instanceof ClaimResult.Granted granted) {
                token = granted.fencingToken();
                String step = phase.equals("raising") ? "holds" : "agrees";
                phase = "held";
                note(step, this, 0, 0);
            } else {
                String step = phase.equals("giving back") ? "gave back" : phase.equals("raising") ? "doubts" : "fails";
                phase = "resting";
                note(step, this, 0, 0);
            }
        }
    }
}
