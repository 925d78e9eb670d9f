package io.github.reactivelock.quorum;

import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.QuorumNode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.util.retry.Retry;

/** The nodes of a quorum, and the ways of asking all of them. */
final class Nodes {

    /** One of value and failure is there. */
    record Answer<T>(int node, @Nullable T value, @Nullable Throwable failure) {}

    record Pushed<T>(int node, T value) {}

    private final List<QuorumNode> all;
    private final Duration timeout;

    Nodes(List<QuorumNode> all, Duration timeout) {
        this.all = all;
        this.timeout = timeout;
    }

    Nodes withTimeout(Duration changed) {
        return new Nodes(all, changed);
    }

    int size() {
        return all.size();
    }

    QuorumNode get(int node) {
        return all.get(node);
    }

    boolean isMajority(long count) {
        return count > all.size() / 2;
    }

    <T> Mono<T> bounded(Mono<T> question) {
        return question.timeout(
                timeout, Mono.error(() -> new TimeoutException("no answer within " + timeout.toMillis() + " ms")));
    }

    /**
     * Asks all nodes, and only then lets their answers be heard. Whoever has heard enough cancels, which stops the
     * listening and not the asking: a node that was left out of a claim, a raise or a release, or that heard of them in
     * another order than the others, would contradict them.
     */
    <T> Flux<Answer<T>> askAll(Function<QuorumNode, Mono<T>> question) {
        return Flux.defer(() -> {
            Sinks.Many<Answer<T>> answers = Sinks.many().unicast().onBackpressureBuffer();
            AtomicInteger silent = new AtomicInteger(all.size());
            Consumer<Answer<T>> hear = answer -> {
                answers.emitNext(answer, Sinks.EmitFailureHandler.busyLooping(timeout));
                if (silent.decrementAndGet() == 0) {
                    answers.emitComplete(Sinks.EmitFailureHandler.busyLooping(timeout));
                }
            };
            for (int i = 0; i < all.size(); i++) {
                int node = i;
                Disposable unused = bounded(question.apply(all.get(node)))
                        .subscribe(
                                value -> hear.accept(new Answer<>(node, value, null)),
                                failure -> hear.accept(new Answer<>(node, null, failure)));
            }
            return answers.asFlux();
        });
    }

    /** What the nodes answered that did answer. */
    <T> Mono<List<T>> onAll(Function<QuorumNode, Mono<T>> question) {
        return this.<T>askAll(question).mapNotNull(answer -> answer.value()).collectList();
    }

    /** Whether a majority answered, as soon as it did. */
    Mono<Boolean> onMajority(Function<QuorumNode, Mono<Boolean>> question) {
        return askAll(question)
                .filter(answer -> answer.value() != null)
                .take(all.size() / 2 + 1)
                .count()
                .map(this::isMajority);
    }

    /** What all nodes push, each listened to again after a failure. */
    <T> Flux<Pushed<T>> pushed(Function<QuorumNode, Flux<T>> pushed) {
        return Flux.range(0, all.size())
                .flatMap(
                        i -> pushed.apply(all.get(i))
                                .retryWhen(Retry.fixedDelay(Long.MAX_VALUE, timeout))
                                .map(value -> new Pushed<>(i, value)),
                        all.size());
    }

    Mono<Void> close() {
        return Flux.fromIterable(all)
                .flatMapDelayError(LockBackend::close, all.size(), 1)
                .then();
    }
}
