package io.github.reactivelock.spi.support;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import java.util.function.Supplier;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * For a store whose driver does not say whether it is connected: it is ready once it has answered a question, and from
 * then on. So the first connection, with the classes that are loaded for it, has a time of its own.
 */
public final class FirstAnswer {

    private final Supplier<? extends Mono<?>> question;
    private volatile boolean came;

    /**
     * Asks nothing yet.
     *
     * @param question something that changes nothing
     */
    public FirstAnswer(Supplier<? extends Mono<?>> question) {
        this.question = question;
    }

    /**
     * As the constructor, for a store whose first connection may take longer than a command.
     *
     * @param opening for how long the question is put again at once when the store was silent, more than zero
     * @param question something that changes nothing
     * @param isSilence whether a failure of the question says that
     * @return asks nothing yet
     */
    public static FirstAnswer within(
            Duration opening, Supplier<? extends Mono<?>> question, Predicate<Throwable> isSilence) {
        return new FirstAnswer(() -> Mono.defer(() -> {
            AtomicBoolean over = new AtomicBoolean();
            Disposable end = SilenceClock.ofThisProcess().after(opening, () -> over.set(true));
            return question.get()
                    .retryWhen(Retry.indefinitely().filter(error -> isSilence.test(error) && !over.get()))
                    .doFinally(signal -> end.dispose());
        }));
    }

    /**
     * For {@link io.github.reactivelock.spi.LockBackend#isReady}.
     *
     * @return whether the store has answered
     */
    public boolean came() {
        return came;
    }

    /**
     * For {@link io.github.reactivelock.spi.LockBackend#ready}.
     *
     * @return completes when the store has answered; fails as the question does
     */
    public Mono<Void> await() {
        return Mono.defer(() -> came
                ? Mono.<Void>empty()
                : question.get().doOnSuccess(answer -> came = true).then());
    }
}
