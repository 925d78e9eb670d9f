package io.github.reactivelock.quorum;

import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.util.retry.Retry;

/** The nodes of a quorum, and the ways of asking all of them. */
final class Voters {

    /** One of value and failure is there. */
    record Answer<T>(int node, @Nullable T value, @Nullable Throwable failure) {}

    record Pushed<T>(int node, T value) {}

    /** What to ask a node, which has a number. */
    @FunctionalInterface
    interface Question<T> {
        Mono<T> to(QuorumNode node, int number);
    }

    private static final int IMPATIENCE = 10;
    private static final Duration LONGEST_FAREWELL = Duration.ofMillis(600);

    private final List<QuorumNode> all;
    private final List<Integer> everyone;
    private final Duration timeout;
    private final Surroundings surroundings;
    private final Set<Mono<?>> underWay;
    /** How the nodes failed whose last question did. */
    private final Map<Integer, Throwable> failing;

    private final Set<Integer> silent;

    Voters(List<QuorumNode> all, Duration timeout, Surroundings surroundings) {
        this(all, timeout, surroundings, ConcurrentHashMap.newKeySet(), new ConcurrentSkipListMap<>(), Set.of());
    }

    private Voters(
            List<QuorumNode> all,
            Duration timeout,
            Surroundings surroundings,
            Set<Mono<?>> underWay,
            Map<Integer, Throwable> failing,
            Set<Integer> silent) {
        this.all = all;
        this.underWay = underWay;
        this.failing = failing;
        this.silent = silent;
        this.everyone = IntStream.range(0, all.size()).boxed().toList();
        this.timeout = timeout;
        this.surroundings = surroundings;
    }

    Voters withTimeout(Duration changed) {
        return new Voters(all, changed, surroundings, underWay, failing, silent);
    }

    /** The same nodes, each given less time if a lease is too short to wait for them. */
    Voters hastenedFor(Duration lease) {
        Duration quarter = lease.dividedBy(4);
        return quarter.compareTo(timeout) < 0 ? withTimeout(quarter) : this;
    }

    /**
     * Nodes that were silent a moment ago get little time, so that those that are dead leave time for several rounds of
     * a try. Not in the rounds of a claim that waits: who answers more slowly than that would be dead to it for good,
     * and the votes of three claims could stay apart for ever.
     */
    Voters impatientWith(Set<Integer> nodes) {
        return nodes.isEmpty() ? this : new Voters(all, timeout, surroundings, underWay, failing, nodes);
    }

    private Duration timeoutOf(int node) {
        return silent.contains(node) ? timeout.dividedBy(IMPATIENCE) : timeout;
    }

    /** The value, or so many times of a node's time after the beginning the error. */
    <T> Mono<T> within(int times, long began, Mono<T> question, Supplier<? extends Throwable> error) {
        Duration gone = Duration.ofNanos(surroundings.nanoClock().getAsLong() - began);
        Duration left = timeout.multipliedBy(times).minus(gone);
        return surroundings
                .silenceClock()
                .timeout(question, left.compareTo(timeout) < 0 ? timeout : left, Mono.error(error));
    }

    /** What the nodes say of themselves. */
    @Override
    public String toString() {
        return all.toString();
    }

    QuorumNode node(int number) {
        return all.get(number);
    }

    /** The number of a node that is connected, or of the first if none is. */
    int firstReady() {
        return everyone.stream()
                .filter(number -> all.get(number).isReady())
                .findFirst()
                .orElse(0);
    }

    int size() {
        return all.size();
    }

    boolean isMajority(long count) {
        return count > all.size() / 2;
    }

    int majority() {
        return all.size() / 2 + 1;
    }

    /**
     * Each node would admit as many as the capacity, and a claim needs a majority of nodes only. Null if there is no
     * reason.
     */
    @Nullable
    String whyUnsupported(Share share) {
        if (share.isWhole() || share.equals(Share.ONE)) {
            return all.stream()
                    .filter(node -> !node.supports(share))
                    .map(node -> node.whyUnsupported(share))
                    .findFirst()
                    .orElse(null);
        }
        int capacity = share.capacity();
        return "a quorum cannot count permits: each of its " + size() + " nodes would admit " + capacity
                + ", and a claim needs only " + majority() + " of them, so up to "
                + (long) size() * capacity / majority() + " permits would be in use; take one of " + capacity
                + " exclusive locks, \"key#1\" and so on, or use one Redis";
    }

    boolean isMajorityReady() {
        return isMajority(all.stream().filter(LockBackend::isReady).count());
    }

    Mono<Void> majorityReady() {
        return majority(LockBackend::ready, "cannot be reached");
    }

    Mono<Void> majorityProbed(String key) {
        return majority(node -> node.probe(key), "cannot grant locks");
    }

    /** Fails when so many nodes failed that the others are no majority. */
    private Mono<Void> majority(Function<LockBackend, Mono<Void>> question, String failed) {
        return Mono.defer(() -> {
            Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
            return Flux.fromIterable(all)
                    .flatMap(
                            node -> question.apply(node).thenReturn(true).onErrorResume(failure -> {
                                failures.add(failure);
                                return Mono.empty();
                            }),
                            all.size())
                    .take(all.size() / 2 + 1)
                    .count()
                    .flatMap(ready -> isMajority(ready)
                            ? Mono.empty()
                            : Mono.error(new IllegalStateException(
                                    failures.size() + " of " + size() + " nodes " + failed + words(failures),
                                    failures.peek())));
        });
    }

    private static String words(Collection<Throwable> failures) {
        return failures.stream().map(failure -> "; " + failure.getMessage()).collect(Collectors.joining());
    }

    /** Which nodes failed when they were asked last, and how. */
    String whySilent() {
        return failing.isEmpty()
                ? "look whether its nodes are up and reachable: " + this
                : "of its " + size() + " nodes " + failing.size() + " failed when asked last" + failures();
    }

    /** To follow a sentence. */
    String failures() {
        return failing.entrySet().stream()
                .map(node ->
                        "; node " + (node.getKey() + 1) + ": " + node.getValue().getMessage())
                .collect(Collectors.joining());
    }

    private TimeoutException silence(int node, Duration time) {
        return new TimeoutException(
                "no answer within " + time.toMillis() + " ms: " + all.get(node).whySilent());
    }

    /** Asks all nodes; see {@link #ask}. */
    <T> Flux<Answer<T>> askAll(Question<T> question) {
        return ask(everyone, question);
    }

    /**
     * Asks several nodes at once, and only then lets their answers be heard. A caller with enough answers cancels,
     * which stops the listening and not the asking: a node that was left out of a claim, a raise or a release, or that
     * got them in another order than the others, would contradict them.
     */
    <T> Flux<Answer<T>> ask(Collection<Integer> asked, Question<T> question) {
        return Flux.defer(() -> {
            List<Mono<Answer<T>>> answers = new ArrayList<>(asked.size());
            for (int node : asked) {
                answers.add(begin(node, question));
            }
            return Flux.merge(answers);
        });
    }

    private <T> Mono<Answer<T>> begin(int node, Question<T> question) {
        Sinks.One<Answer<T>> answer = Sinks.one();
        Mono<Answer<T>> heard = answer.asMono();
        underWay.add(heard);
        Duration time = timeoutOf(node);
        surroundings
                .silenceClock()
                .timeout(
                        Mono.defer(() -> question.to(all.get(node), node)), time, Mono.error(() -> silence(node, time)))
                .doFinally(signal -> underWay.remove(heard))
                .subscribe(
                        value -> {
                            failing.remove(node);
                            tell(answer, new Answer<>(node, value, null));
                        },
                        failure -> {
                            failing.put(node, failure);
                            tell(answer, new Answer<>(node, null, failure));
                        },
                        () -> tell(answer, null));
        return heard;
    }

    /** The first one counts: what completes after its answer has said all. */
    private static <T> void tell(Sinks.One<Answer<T>> sink, @Nullable Answer<T> answer) {
        sink.tryEmitValue(answer);
    }

    /** What the nodes answered that did answer, as soon as that is enough, at the latest when all had their time. */
    <T> Mono<List<T>> onEnough(Question<T> question, Predicate<List<T>> isEnough) {
        return Mono.defer(() -> {
            List<T> answers = new ArrayList<>(all.size());
            return askAll(question)
                    .mapNotNull(answer -> answer.value())
                    .doOnNext(answers::add)
                    .takeUntil(answer -> isEnough.test(answers))
                    .then(Mono.just(answers));
        });
    }

    /** Whether a majority answered, as soon as it did. */
    <T> Mono<Boolean> onMajority(Question<T> question) {
        return onEnough(question, answers -> isMajority(answers.size())).map(answers -> isMajority(answers.size()));
    }

    /** Fails unless a majority answered. */
    <T> Mono<List<T>> asMany(List<T> answers) {
        return isMajority(answers.size())
                ? Mono.just(answers)
                : Mono.error(new IllegalStateException("only " + answers.size() + " of " + size()
                        + " nodes answered; look whether the others are up and reachable" + failures()));
    }

    /** Whether a majority is of one mind, so that further answers change nothing. */
    boolean isClear(List<Boolean> answers) {
        long yes = answers.stream().filter(answer -> answer).count();
        return isMajority(yes) || isMajority(answers.size() - yes);
    }

    /** What a majority says; fails if none says the same. */
    boolean decision(List<Boolean> answers) {
        if (!isClear(answers)) {
            throw new IllegalStateException("only " + answers.size() + " of " + size()
                    + " nodes answered, and too few the same; look whether the others are up and reachable"
                    + failures());
        }
        return isMajority(answers.stream().filter(answer -> answer).count());
    }

    /** What all nodes push, each listened to again after a failure. */
    <T> Flux<Pushed<T>> pushed(Function<QuorumNode, Flux<T>> pushed) {
        return Flux.range(0, all.size())
                .flatMap(
                        i -> pushed.apply(all.get(i))
                                .retryWhen(Retry.fixedDelay(Long.MAX_VALUE, timeout)
                                        .scheduler(surroundings.timer()))
                                .map(value -> new Pushed<>(i, value)),
                        all.size());
    }

    /** What was asked and not waited for, a release at the slower nodes say, is given its time. */
    Mono<Void> close() {
        Mono<Void> closed = Flux.fromIterable(all)
                .flatMapDelayError(LockBackend::close, all.size(), 1)
                .then();
        Mono<Void> said = Flux.defer(() -> Flux.fromIterable(underWay))
                .flatMap(answer -> answer, Integer.MAX_VALUE)
                .then();
        return surroundings
                .silenceClock()
                .timeout(said, LONGEST_FAREWELL, Mono.empty())
                .then(closed);
    }
}
