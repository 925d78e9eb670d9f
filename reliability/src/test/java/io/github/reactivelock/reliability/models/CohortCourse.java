package io.github.reactivelock.reliability.models;

import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.Simulated;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.Signal;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;
import reactor.test.scheduler.VirtualTimeScheduler;

/**
 * Flows of one client, and somebody else, at a store that does what that of {@code models/Cohort.tla} does. What the client
 * tells it, what it answers and what it pushes wait until chance has them arrive. Written down are the steps, in the model's
 * words, and after each what the store has, what waits and who holds the lock under which claim.
 */
final class CohortCourse {

    private static final int FLOWS = 6;
    private static final int OTHER = 99;
    private static final int STEPS = 80;
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final int PASSES = 2;

    private record Message(String verb, int claim, Runnable carriedOut) {}

    private record Answer(int claim, Runnable heard) {}

    private static final class Flow {
        private final int number;
        private String state = "idle";
        private int under;
        private boolean came;
        private @Nullable Disposable subscription;
        private @Nullable LockHandle handle;

        Flow(int number) {
            this.number = number;
        }
    }

    private final Random random;
    private final boolean shared;
    private final LockClient client;
    private final Sinks.Many<Signal> signals = Sinks.many().multicast().directBestEffort();
    private final List<Flow> flows =
            Stream.iterate(1, number -> number + 1).limit(FLOWS).map(Flow::new).toList();
    private final List<Flow> wanting = new ArrayList<>();
    private final Map<String, Integer> claims = new HashMap<>();
    private final Map<Integer, String> ids = new HashMap<>();
    private final List<String> steps = new ArrayList<>();

    private final Deque<Message> sent = new ArrayDeque<>();
    private final Deque<Answer> answers = new ArrayDeque<>();
    private final TreeSet<Integer> pushes = new TreeSet<>();
    private final List<Integer> queue = new ArrayList<>();
    private int owner;
    private long token;
    private String other = "idle";
    /** Questions that left in this step, which are steps of their own. */
    private final List<Message> asked = new ArrayList<>();

    CohortCourse(long seed, Fairness fairness) {
        this.random = new Random(seed);
        this.shared = fairness == Fairness.COHORT;
        this.client = LockClient.builder(backend())
                .options(LockOptions.defaults().withLease(LEASE).withFairness(fairness))
                .passBudget(PASSES, Duration.ofDays(1))
                .timing(VirtualTimeScheduler.create(), () -> 0)
                .workScheduler(Schedulers.immediate())
                .build();
    }

    void run() {
        for (int step = 0; step < STEPS; step++) {
            step();
        }
    }

    String text() {
        return "<<" + String.join(",\n", steps) + ">>";
    }

    // ---- what chance has happen

    private void step() {
        Flow flow = flows.get(random.nextInt(FLOWS));
        switch (random.nextInt(10)) {
            case 0 -> come(flow);
            case 1, 2 -> giveBack(flow);
            case 3 -> cancel(flow);
            case 4 -> askAgain(flow);
            case 5 -> otherMoves();
            case 6 -> hearPush();
            case 7, 8 -> hear();
            default -> store();
        }
    }

    private void come(Flow flow) {
        if (!flow.came) {
            flow.came = true;
            flow.state = "wants";
            wanting.add(flow);
            flow.subscription = client.acquire("k").subscribe(handle -> {
                flow.handle = handle;
                flow.state = "holds";
                flow.under = number(Simulated.claimOf(handle));
                wanting.remove(flow);
            });
            note("comes", flow);
        }
    }

    private void giveBack(Flow flow) {
        LockHandle handle = flow.handle;
        if (handle != null && flow.state.equals("holds")) {
            int under = flow.under;
            flow.state = "idle";
            flow.under = 0;
            Disposable unused = handle.release().subscribe();
            boolean passed = flows.stream().anyMatch(heir -> heir.under == under);
            note(passed ? "passes" : "releases", flow);
        }
    }

    /** Flows that share a claim leave it to the others, which the model has not. */
    private void cancel(Flow flow) {
        Disposable subscription = flow.subscription;
        if (!shared && subscription != null && flow.state.equals("asked")) {
            flow.state = "idle";
            wanting.remove(flow);
            subscription.dispose();
            note("cancels", flow);
        }
    }

    private void askAgain(Flow flow) {
        boolean isUnanswered = sent.stream().anyMatch(message -> message.claim() == flow.number)
                || answers.stream().anyMatch(answer -> answer.claim() == flow.number);
        if (flow.state.equals("asked") && !isUnanswered) {
            signals.emitNext(new Signal.RecheckClaim(ids.get(flow.number)), Sinks.EmitFailureHandler.FAIL_FAST);
            noteAsked();
        }
    }

    private void otherMoves() {
        if (other.equals("idle")) {
            if (owner == 0) {
                owner = OTHER;
                other = "holds";
            } else {
                queue.add(OTHER);
                other = "waits";
            }
            note("other comes", null);
        } else if (other.equals("holds")) {
            other = "idle";
            serve();
            note("other goes", null);
        }
    }

    private void store() {
        Message next = sent.poll();
        if (next != null) {
            next.carriedOut().run();
            note("store", null);
        }
    }

    /** A claim that was left is released once more by the client when its release under way has been answered. */
    private void hear() {
        Answer next = answers.peek();
        boolean isLate = next != null
                && sent.stream()
                        .anyMatch(m -> m.claim() == next.claim() && m.verb().equals("release"));
        if (isLate) {
            store();
        } else if (next != null) {
            answers.remove();
            next.heard().run();
            note("hears", null);
        }
    }

    private void hearPush() {
        Integer claim = pushes.pollFirst();
        if (claim != null) {
            signals.emitNext(
                    new Signal.Grant(ids.get(claim), token << LockBackend.PASS_BITS),
                    Sinks.EmitFailureHandler.FAIL_FAST);
            note("hears a push", null);
        }
    }

    // ---- the store

    private LockBackend backend() {
        return (LockBackend) Proxy.newProxyInstance(
                LockBackend.class.getClassLoader(),
                new Class<?>[] {LockBackend.class},
                (proxy, method, args) -> switch (method.getName()) {
                    case "claim" -> claim((Claim) args[0]);
                    case "release" -> release((Claim) args[0]);
                    case "signals" -> signals.asFlux();
                    case "isReady" -> true;
                    case "ready", "close" -> Mono.empty();
                    case "holdsBack" -> false;
                    default -> throw new UnsupportedOperationException(method.getName());
                });
    }

    private Mono<ClaimResult> claim(Claim claim) {
        return Mono.create(sink -> {
            int number = number(claim.id());
            Message question = new Message("claim", number, () -> answer(number, sink));
            sent.add(question);
            asked.add(question);
        });
    }

    private void answer(int claim, MonoSink<ClaimResult> sink) {
        if (owner == 0 || owner == claim) {
            token += owner == 0 ? 1 : 0;
            owner = claim;
            long granted = token << LockBackend.PASS_BITS;
            answers.add(new Answer(claim, () -> sink.success(new ClaimResult.Granted(granted, LEASE))));
        } else {
            int before = queue.isEmpty() ? owner : queue.get(queue.size() - 1);
            boolean isNew = !queue.contains(claim);
            if (isNew) {
                queue.add(claim);
            }
            String behind = !isNew ? null : before == OTHER ? "somebody's" : ids.get(before);
            answers.add(new Answer(claim, () -> sink.success(new ClaimResult.Queued(LEASE, behind, 0))));
        }
    }

    private Mono<Boolean> release(Claim claim) {
        return Mono.create(sink -> {
            int number = number(claim.id());
            sent.add(new Message("release", number, () -> {
                boolean owned = owner == number;
                if (owned) {
                    serve();
                } else {
                    queue.remove((Integer) number);
                }
                sink.success(owned);
            }));
        });
    }

    private void serve() {
        owner = queue.isEmpty() ? 0 : queue.remove(0);
        token++;
        if (owner == OTHER) {
            other = "holds";
        } else if (owner != 0) {
            pushes.add(owner);
        }
    }

    /** A claim has the number of the flow that made it: of those that want the lock, the one that came first. */
    private int number(String id) {
        return claims.computeIfAbsent(id, made -> {
            Flow maker = wanting.stream()
                    .filter(flow -> flow.state.equals("wants"))
                    .findFirst()
                    .orElseThrow();
            maker.state = "asked";
            ids.put(maker.number, made);
            return maker.number;
        });
    }

    // ---- what is written down

    private void note(String step, @Nullable Flow by) {
        List<Message> left = new ArrayList<>(sent);
        left.removeAll(asked);
        List<Integer> first =
                asked.stream().map(Message::claim).filter(this::isFirst).toList();
        write(step, by == null ? 0 : by.number, left, first);
        noteAsked();
    }

    private boolean isFirst(int claim) {
        return steps.stream().noneMatch(step -> step.startsWith("[step |-> \"asks\", flow |-> " + claim + ","));
    }

    private void noteAsked() {
        List<Message> left = new ArrayList<>(sent);
        left.removeAll(asked);
        List<Message> questions = List.copyOf(asked);
        asked.clear();
        for (int i = 0; i < questions.size(); i++) {
            left.add(questions.get(i));
            int claim = questions.get(i).claim();
            List<Integer> later = questions.subList(i + 1, questions.size()).stream()
                    .map(Message::claim)
                    .filter(this::isFirst)
                    .toList();
            write(isFirst(claim) ? "asks" : "asks again", claim, left, later);
        }
    }

    /** Flows in {@code yetToAsk} do so in a step that follows. */
    private void write(String step, int flow, List<Message> waits, List<Integer> yetToAsk) {
        steps.add("[step |-> \"" + step + "\", flow |-> " + flow + ", owner |-> " + owner
                + ", queue |-> " + tuple(queue, claim -> "" + claim)
                + ", pushes |-> " + pushes.stream().map(claim -> "" + claim).collect(Collectors.joining(", ", "{", "}"))
                + ", sent |-> "
                + tuple(waits, m -> "[verb |-> \"" + m.verb() + "\", claim |-> " + m.claim() + "]")
                + ", state |-> " + tuple(flows, f -> "\"" + (yetToAsk.contains(f.number) ? "wants" : f.state) + "\"")
                + ", under |-> " + tuple(flows, f -> "" + f.under) + "]");
    }

    private static <T> String tuple(List<T> parts, Function<T, String> text) {
        return parts.stream().map(text).collect(Collectors.joining(", ", "<<", ">>"));
    }
}
