package io.github.reactivelock.election;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * How an election stands, as one process sees it. For health: {@code Leading} and {@code Following} are well;
 * {@code Seeking} is well for a moment, and trouble if it lasts or has a cause; {@code Idle} takes no part.
 */
public sealed interface ElectionState {

    /**
     * Since when it is so.
     *
     * @return by the wall clock of this process
     */
    Instant since();

    /**
     * This candidate leads.
     *
     * @param leadership the term, by which it can also step down
     * @param since when the term began here
     */
    record Leading(Leadership leadership, Instant since) implements ElectionState {}

    /**
     * Another one leads. A candidate may see its own name for a moment, before its term begins here.
     *
     * @param leader the name that its lock client or its lock options have
     * @param term its term
     * @param since when this process first saw it
     */
    record Following(String leader, long term, Instant since) implements ElectionState {}

    /**
     * No leader is known: there is none at the moment, or the store cannot be asked.
     *
     * @param since when that began, also if the cause has changed meanwhile
     * @param cause what the last question failed with; null if no question failed
     */
    record Seeking(Instant since, @Nullable Throwable cause) implements ElectionState {}

    /**
     * This candidate does not campaign: its {@code lead} was not subscribed to, was cancelled, or ended.
     *
     * @param since when that began
     * @param cause the error that {@code lead} ended with; null if there was none
     */
    record Idle(Instant since, @Nullable Throwable cause) implements ElectionState {}
}
