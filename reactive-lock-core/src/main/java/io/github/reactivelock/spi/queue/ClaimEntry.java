package io.github.reactivelock.spi.queue;

/**
 * A claim's entry as one answer of the store showed it. Two are equal if the same write made them and none has changed
 * them since, so an old answer is not taken for news of an entry that was made anew.
 *
 * @param <P> a place in the queue
 */
public interface ClaimEntry<P extends Place> {

    /**
     * Tells whether a place is that of this entry.
     *
     * @param place of the same claim
     * @return false if it is that of another entry, such as one that the claim has given up
     */
    boolean isAt(P place);

    /**
     * Gives the fencing token of a hold by this entry.
     *
     * @return rises along the queue
     */
    long token();
}
