package io.github.reactivelock.models;

import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.Simulated;
import io.github.reactivelock.models.CohortStore.Message;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.scheduler.Schedulers;
import reactor.test.scheduler.VirtualTimeScheduler;

/**
 * Flows of one client, and somebody else, at a store that does what that of {@code models/Cohort.tla} does. What the
 * client tells it, what it answers and what it pushes wait until chance has them arrive. Written down are the steps, in
 * the model's words, and after each what the store has, what waits and who holds the lock under which claim.
 */
final class CohortCourse {

    private static final int FLOWS = 6;
    private static final int STEPS = 80;
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final int PASSES = 2;

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
    private final List<Flow> flows =
            Stream.iterate(1, number -> number + 1).limit(FLOWS).map(Flow::new).toList();
    private final List<Flow> wanting = new ArrayList<>();
    private final Map<String, Integer> claims = new HashMap<>();
    private final Map<Integer, String> ids = new HashMap<>();
    private final List<String> steps = new ArrayList<>();

    private final CohortStore store = new CohortStore(LEASE, this::number, ids::get);

    CohortCourse(long seed, Fairness fairness) {
        this.random = new Random(seed);
        this.shared = fairness == Fairness.COHORT;
        this.client = LockClient.builder(store.backend())
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
            case 5 -> note(store.otherMoves(), null);
            case 6 -> note(store.push(), null);
            case 7, 8 -> note(store.answer(), null);
            default -> note(store.carryOut(), null);
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
        if (flow.state.equals("asked") && !store.isUnderWay(flow.number)) {
            store.recheck(flow.number);
            noteAsked();
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
        if (!step.isEmpty()) {
            write(step, by == null ? 0 : by.number, store.sent(), firsts(store.asked()));
            noteAsked();
        }
    }

    private void noteAsked() {
        List<Message> waits = store.sent();
        List<Message> questions = store.takeAsked();
        for (int i = 0; i < questions.size(); i++) {
            waits.add(questions.get(i));
            int claim = questions.get(i).claim();
            List<Integer> later = firsts(questions.subList(i + 1, questions.size()));
            write(isFirst(claim) ? "asks" : "asks again", claim, waits, later);
        }
    }

    private List<Integer> firsts(List<Message> questions) {
        return questions.stream().map(Message::claim).filter(this::isFirst).toList();
    }

    private boolean isFirst(int claim) {
        return steps.stream().noneMatch(step -> step.startsWith("[step |-> \"asks\", flow |-> " + claim + ","));
    }

    /** Flows in {@code yetToAsk} do so in a step that follows. */
    private void write(String step, int flow, List<Message> waits, List<Integer> yetToAsk) {
        steps.add("[step |-> \"" + step + "\", flow |-> " + flow + ", owner |-> " + store.owner()
                + ", queue |-> " + Tlc.tuple(store.queue(), claim -> "" + claim)
                + ", pushes |-> "
                + store.pushes().stream().map(claim -> "" + claim).collect(Collectors.joining(", ", "{", "}"))
                + ", sent |-> "
                + Tlc.tuple(waits, m -> "[verb |-> \"" + m.verb() + "\", claim |-> " + m.claim() + "]")
                + ", state |-> "
                + Tlc.tuple(flows, f -> "\"" + (yetToAsk.contains(f.number) ? "wants" : f.state) + "\"")
                + ", under |-> " + Tlc.tuple(flows, f -> "" + f.under) + "]");
    }
}
