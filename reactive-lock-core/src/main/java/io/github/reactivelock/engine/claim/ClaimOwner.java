package io.github.reactivelock.engine.claim;

import io.github.reactivelock.LockException;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.engine.store.Services;
import io.github.reactivelock.engine.user.Mailbox;
import io.github.reactivelock.spi.Claim;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Whose claim an {@link Attempt} or a {@link Grant} is, and who hears what came of it. Called inside its key's events,
 * but for {@link #services}, {@link #post}, {@link #tell} and {@link #tick}.
 */
public interface ClaimOwner {

    Services services();

    /** Handles something inside an event; callable from any thread. */
    void post(Mailbox.Event event);

    /** Tells what it has at the store then, in an event of its own. */
    void tell(Consumer<Phase> news);

    /** Looks at the time, in an event of its own. */
    void tick();

    /** Has the ticks look at it again. */
    void stir();

    /** Whether this is what it has at the store now. */
    boolean isIn(Phase asked);

    /** The store granted the claim at the earliest at {@code since}. */
    void granted(Attempt asked, long fencingToken, Duration lasting, long since);

    /** The store had the claim in its queue, though no flow wants it any more. */
    void queuedAfterwards(Attempt asked, long newestToken);

    /** The store serves the claim named directly before this one. */
    default void standsBehind(String claimId) {}

    /** Somebody else has the lock, and the claim was not to wait. */
    void busy(Attempt asked);

    /** It does not want the claim any more, which the store may know of. */
    void giveBack(Claim unwanted);

    /**
     * There will be no grant.
     *
     * @param failure makes one for each flow, because what a flow adds to its own is no business of another
     */
    void failAll(Supplier<? extends LockException> failure);

    /** Only those fail who want the lease that was asked for. */
    void failThoseOf(Attempt asked, IllegalStateException why);

    /** The grant is over at the store, or must be taken to be. */
    void lost(Grant gone, LockLostException loss);
}
