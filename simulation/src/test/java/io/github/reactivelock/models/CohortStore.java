package io.github.reactivelock.models;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.Signal;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntFunction;
import java.util.function.ToIntFunction;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.publisher.Sinks;

/**
 * The store of {@code models/Cohort.tla}, for one client and somebody else. What it is told, what it answers and what
 * it pushes waits until it is asked to go on.
 */
final class CohortStore {

    private static final int OTHER = 99;

    record Message(String verb, int claim, Runnable carriedOut) {}

    private record Answer(int claim, Runnable heard) {}

    private final Duration lease;
    private final ToIntFunction<String> numbers;
    private final IntFunction<String> ids;
    private final Sinks.Many<Signal> signals = Sinks.many().multicast().directBestEffort();
    private final Deque<Message> sent = new ArrayDeque<>();
    private final Deque<Answer> answers = new ArrayDeque<>();
    private final TreeSet<Integer> pushes = new TreeSet<>();
    private final List<Integer> queue = new ArrayList<>();
    /** Questions that left since they were last taken. */
    private final List<Message> asked = new ArrayList<>();

    private int owner;
    private long token;
    private String other = "idle";

    /**
     * @param numbers the number of a claim's id
     * @param ids the id of a claim's number
     */
    CohortStore(Duration lease, ToIntFunction<String> numbers, IntFunction<String> ids) {
        this.lease = lease;
        this.numbers = numbers;
        this.ids = ids;
    }

    int owner() {
        return owner;
    }

    List<Integer> queue() {
        return queue;
    }

    Set<Integer> pushes() {
        return pushes;
    }

    /** What was sent and is not carried out, without the questions that are not taken yet. */
    List<Message> sent() {
        List<Message> left = new ArrayList<>(sent);
        left.removeAll(asked);
        return left;
    }

    List<Message> asked() {
        return asked;
    }

    List<Message> takeAsked() {
        List<Message> taken = List.copyOf(asked);
        asked.clear();
        return taken;
    }

    boolean isUnderWay(int claim) {
        return sent.stream().anyMatch(message -> message.claim() == claim)
                || answers.stream().anyMatch(answer -> answer.claim() == claim);
    }

    // ---- what goes on: the name of the step, or nothing if there is none

    String carryOut() {
        Message next = sent.poll();
        if (next == null) {
            return "";
        }
        next.carriedOut().run();
        return "store";
    }

    /** A claim that was left is released once more by the client when its release under way has been answered. */
    String answer() {
        Answer next = answers.peek();
        if (next == null) {
            return "";
        }
        boolean isLate = sent.stream()
                .anyMatch(message ->
                        message.claim() == next.claim() && message.verb().equals("release"));
        if (isLate) {
            return carryOut();
        }
        answers.remove();
        next.heard().run();
        return "hears";
    }

    String push() {
        Integer claim = pushes.pollFirst();
        if (claim == null) {
            return "";
        }
        emit(new Signal.Grant(ids.apply(claim), token << LockBackend.PASS_BITS));
        return "hears a push";
    }

    void recheck(int claim) {
        emit(new Signal.RecheckClaim(ids.apply(claim)));
    }

    private void emit(Signal signal) {
        signals.emitNext(signal, Sinks.EmitFailureHandler.FAIL_FAST);
    }

    String otherMoves() {
        if (other.equals("idle")) {
            if (owner == 0) {
                owner = OTHER;
                other = "holds";
            } else {
                queue.add(OTHER);
                other = "waits";
            }
            return "other comes";
        }
        if (other.equals("holds")) {
            other = "idle";
            serve();
            return "other goes";
        }
        return "";
    }

    // ---- the verbs

    LockBackend backend() {
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
                    case "toString" -> "the store of a model";
                    default -> throw new UnsupportedOperationException(method.getName());
                });
    }

    private Mono<ClaimResult> claim(Claim claim) {
        return Mono.create(sink -> {
            int number = numbers.applyAsInt(claim.id());
            Message question = new Message("claim", number, () -> decide(number, sink));
            sent.add(question);
            asked.add(question);
        });
    }

    private void decide(int claim, MonoSink<ClaimResult> sink) {
        if (owner == 0 || owner == claim) {
            token += owner == 0 ? 1 : 0;
            owner = claim;
            long granted = token << LockBackend.PASS_BITS;
            answers.add(new Answer(claim, () -> sink.success(new ClaimResult.Granted(granted, lease))));
        } else {
            int before = queue.isEmpty() ? owner : queue.get(queue.size() - 1);
            boolean isNew = !queue.contains(claim);
            if (isNew) {
                queue.add(claim);
            }
            String behind = !isNew ? null : before == OTHER ? "somebody's" : ids.apply(before);
            answers.add(new Answer(claim, () -> sink.success(new ClaimResult.Queued(lease, behind, 0))));
        }
    }

    private Mono<Boolean> release(Claim claim) {
        return Mono.create(sink -> {
            int number = numbers.applyAsInt(claim.id());
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
}
