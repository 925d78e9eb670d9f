package io.github.reactivelock.election;

import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import java.time.Duration;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** A hold of the election's lock, and the two things that can be said to it: step down, and it is over. */
final class Term implements Leadership {

    final LockHandle held;
    private final Sinks.Empty<Void> stepsDown = Sinks.empty();
    private final Sinks.Empty<Void> over = Sinks.empty();
    private volatile boolean isSteppingDown;

    Term(LockHandle held) {
        this.held = held;
    }

    /** Completes when the leader is to step down. */
    Mono<Void> stepsDown() {
        return stepsDown.asMono();
    }

    /**
     * The turn is over: the lock was given up or lost, or is about to be given up because the campaign was cancelled.
     */
    void end() {
        isSteppingDown = true;
        over.tryEmitEmpty(); // which may be completed already
    }

    /** Whether an error says that this term was lost, from any source. */
    boolean isLostBy(Throwable error) {
        return error instanceof LockLostException loss && loss.key().equals(key()) && loss.fencingToken() == term();
    }

    @Override
    public String key() {
        return held.key();
    }

    @Override
    public long term() {
        return held.fencingToken();
    }

    @Override
    public boolean isLeader() {
        return !isSteppingDown && held.isHeld();
    }

    @Override
    public Duration remaining() {
        return isSteppingDown ? Duration.ZERO : held.remaining();
    }

    @Override
    public Mono<LockLostException> lost() {
        return held.lost();
    }

    @Override
    public Mono<Void> resign() {
        return Mono.<Void>fromRunnable(() -> {
                    isSteppingDown = true;
                    stepsDown.tryEmitEmpty(); // which may be completed already
                })
                .then(over.asMono())
                .then(Mono.defer(this::givenUp))
                .onErrorStop();
    }

    /**
     * Asks for the release only when that has begun, or the lock would be free before the work has heard its cancel.
     */
    private Mono<Void> givenUp() {
        Mono<?> left = held.isHeld() ? held.lost() : Mono.empty();
        return left.then(held.release()).onErrorComplete();
    }

    @Override
    public String toString() {
        return "Leadership[key=" + key() + ", term=" + term() + ", leader=" + isLeader() + "]";
    }
}
