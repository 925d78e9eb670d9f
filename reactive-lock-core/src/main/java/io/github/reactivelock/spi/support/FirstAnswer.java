package io.github.reactivelock.spi.support;

import java.util.function.Supplier;
import reactor.core.publisher.Mono;

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
