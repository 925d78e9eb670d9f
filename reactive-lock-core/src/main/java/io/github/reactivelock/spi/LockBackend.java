package io.github.reactivelock.spi;

import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.Share;
import java.util.List;
import java.util.Optional;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A store that keeps, for every key, its holders and a queue of waiting claims. The claim that is first in the queue is
 * granted as soon as the units in use and its own fit the capacity of its {@link Claim#share()}. The engine does the
 * waiting, renewing, timing out and cancelling; a backend only answers questions and pushes signals.
 *
 * <p>Every publisher is cold and never blocks the subscribing thread. Results may arrive on any thread, the driver's
 * event loop included; the engine never runs user code there. Commands subscribed one after the other should reach the
 * store in that order; where a store cannot promise this, a {@link #release} that overtakes its {@link #claim} must
 * still leave nothing behind once the claim's answer has been seen and released again.
 *
 * <p>An error signal means only that the store could not be asked: the command may or may not have been carried out.
 * Its message is shown to users, so it says what happened and what to do, and holds no secret.
 *
 * <p>{@code toString()} says which store this is, and where, as {@code Redis at localhost:6379}, for what is logged of
 * it. It holds no secret either.
 */
public interface LockBackend {

    /** How many low bits of a fencing token belong to the engine, which counts hand-overs inside one process there. */
    int PASS_BITS = 12;

    /** A key that no lock has: what is asked about it shows whether the store answers, and no more. */
    String READY_KEY = "reactive-lock-ready";

    /**
     * Whether a question would leave for the store now. While it would not, the engine keeps its questions to itself
     * and waits for {@link #ready}; so nothing piles up in a driver. Asked before every question, so it only looks.
     *
     * @return false before the first connection and while one is interrupted; always true unless overridden
     */
    default boolean isReady() {
        return true;
    }

    /**
     * Opens a connection if there is none, and waits for one that is being opened again.
     *
     * @return completes when {@link #isReady} is true; an error says that none could be opened, and the next
     *     subscription tries again
     */
    default Mono<Void> ready() {
        return Mono.empty();
    }

    /**
     * What keeps the store from being asked now, or from answering, as was said last: a refused reconnection, or a
     * refusal that passes; where nothing was said, which server is silent. Asked for an error's message where a wait
     * for the store is over that is not about one lock, so it only looks.
     *
     * @return a sentence for the user, which names the server and holds no secret; never empty. With {@code toString()}
     *     unless overridden
     */
    default String whySilent() {
        return "look whether " + this + " is up and reachable";
    }

    /**
     * As {@link #whySilent()}, where what was waited for is about one lock. To be overridden by a store that keeps its
     * locks on several servers, so that the error names the one that keeps this lock.
     *
     * @param key of the lock
     * @return a sentence for the user, which names the server and holds no secret; never empty. What
     *     {@link #whySilent()} says unless overridden
     */
    default String whySilent(String key) {
        return whySilent();
    }

    /**
     * Why waiting claims look for their grants by time though this store has pushes, so that a lock that is given on is
     * noticed late. Asked by what shows the state of locks, so it only looks.
     *
     * @return a sentence for the user, which holds no secret; empty where pushes arrive, where none is needed yet, and
     *     where they are turned off. Always empty unless overridden
     */
    default Optional<String> whyNotPushed() {
        return Optional.empty();
    }

    /**
     * Whether claims for such a share can be made. Asked when a client's options are to share, so it only looks.
     *
     * @param share how much of a lock is wanted
     * @return only for the whole, unless overridden
     */
    default boolean supports(Share share) {
        return share.isWhole();
    }

    /**
     * Why claims for such a share cannot be made; asked where {@link #supports} says that they cannot.
     *
     * @param share how much of a lock is wanted
     * @return a sentence for the user, which says what to do instead
     */
    default String whyUnsupported(Share share) {
        return getClass().getSimpleName() + " keeps exclusive locks only, and no lock as " + share.text()
                + "; use another store, or withLock without shared() or permits()";
    }

    /**
     * Whether the owner of a lock can be called back, so that its client may keep it while no flow needs it. Asked when
     * a client's options are to keep locks, so it only looks.
     *
     * <p>Such a store remembers which owner is {@linkplain Claim#recallable recallable}. It pushes
     * {@link Signal.Recall} to it when a claim is queued behind it, or is asked about again and still waits. A claim of
     * {@link Claim.Mode#TRY} that finds such an owner and none that waits is queued too and calls it back; if others
     * wait, it is busy.
     *
     * @return false unless overridden
     */
    default boolean supportsRecall() {
        return false;
    }

    /**
     * Whether a recall would be heard now. A lock is kept only while it would, and goes to no flow while it would not.
     * To be overridden by a store whose pushes can be swallowed on their way without an error of {@link #signals}; it
     * says yes once it has seen that they arrive. While {@link #isReady} is false the engine does not rely on it. Asked
     * when a lock is to be kept, when a flow is to have it, and several times a second meanwhile, so it only looks.
     *
     * @return what {@link #supportsRecall} says, unless overridden
     */
    default boolean hearsRecalls() {
        return supportsRecall();
    }

    /**
     * Calls the owner of a lock back for one that only waits for the lock's release, as a claim that is queued does.
     *
     * @param key the lock's key
     * @return completes when that is on its way, or when there is none to be called back; unless overridden, at once
     */
    default Mono<Void> recall(String key) {
        return Mono.empty();
    }

    /**
     * Asks for the lock. Called for the first attempt, and again with the same claim to look whether a waiting claim
     * has been served and to keep it alive; a waiting claim that is not asked about for a whole lease is dead and may
     * be dropped. Idempotent by {@link Claim#id()}: a claim that already owns the lock is answered with its old token
     * and a lease that starts anew.
     *
     * @param claim who asks for what
     * @return {@link ClaimResult.Granted}, {@link ClaimResult.Queued}, or for {@link Claim.Mode#TRY} also
     *     {@link ClaimResult.Busy}; never empty
     */
    Mono<ClaimResult> claim(Claim claim);

    /**
     * Whether a question about a claim still waits in a queue of this backend, for a connection say, so that its
     * silence is not the store's. Asked for now and then until the answer comes; meanwhile the question is waited for
     * as long as the store answers others. So it only looks.
     *
     * @param claim about which {@link #claim} was asked
     * @return false unless overridden
     */
    default boolean holdsBack(Claim claim) {
        return false;
    }

    /**
     * Lets the leases of several held claims start anew, in as few commands as the store allows. A claim that the store
     * does not hold is never brought back by this. Each claim is answered for itself: where the store refuses one of
     * them, the others are renewed, and all that a hold needs is written before anything that the store may refuse.
     *
     * @param held claims that were granted; never empty
     * @return which are still held, which are not, and which the store refused; one that could not be asked about is in
     *     none. An error says that no claim could be asked about.
     */
    Mono<RenewalResult> renew(List<Claim> held);

    /**
     * Gives the lock up if the claim owns it, or its share of it, handing it to the next live waiting claims that fit
     * in the same atomic step, and otherwise takes the claim out of the queue, which may let those behind it in.
     * Idempotent: said again it changes nothing, and it never touches a successor.
     *
     * @param claim the claim to end
     * @return whether the claim owned the lock until now; never empty. False is a statement about the hold, which is
     *     then reported to a user as lost: where the command may have been carried out before, because a driver said it
     *     again when its connection broke, a second answer that finds nothing is an error instead. Of a claim that was
     *     served and not told so yet, by an answer or a push, a store may say either.
     */
    Mono<Boolean> release(Claim claim);

    /**
     * Ends a hold and leaves its lock taken, in one atomic step: the lock passes, with its token and without a new
     * grant, from the claim that owns it to another, whose lease begins now and is not renewed. Commands for the first
     * claim from then on, or late ones, change nothing. Idempotent: said again, the lease of the second begins anew, if
     * that still owns the lock.
     *
     * @param held the claim whose hold ends
     * @param kept who has the lock from then on, until it is released or its lease is over
     * @return whether one of the two owned the lock until now; never empty; an error where that is not known, as of
     *     {@link #release}; unless overridden an error that says that this store cannot do it
     */
    default Mono<Boolean> keep(Claim held, Claim kept) {
        return Mono.error(() -> new UnsupportedOperationException(getClass().getSimpleName()
                + " cannot keep a lock beyond its hold; leave withMinHold and withLockDelay out"));
    }

    /**
     * What the store pushes to this backend's claims. Subscribed once by every client, for its whole life, and again
     * after an error. {@link Signal.Reconnected} is emitted each time pushes start (or start again) to arrive, the
     * first time included, because what was pushed before may have been missed. An error is an interruption, unless it
     * is a {@link SignalsRefusedException}, which fails all waiting acquisitions.
     *
     * @return signals, without end
     */
    Flux<Signal> signals();

    /**
     * Looks at a lock without changing it.
     *
     * @param key the lock's key
     * @return the lock as it is now; never empty
     */
    Mono<LockInfo> inspect(String key);

    /**
     * Whether locks could be granted now, as far as the store can be asked without granting one: by a write that
     * changes nothing, where it has such a one. Asked for {@code LockClient.ready()}.
     *
     * @param key a name for the question; no lock has it
     * @return completes if so; an error says what keeps the store from it; unless overridden, that {@link #inspect}
     *     answers
     */
    default Mono<Void> probe(String key) {
        return inspect(key).then();
    }

    /**
     * Whether a grant is in force. Asked for resources that refuse what comes under another one.
     *
     * @param key the lock's key
     * @param fencingToken the grant's token
     * @return never empty; fails if the store cannot tell; unless overridden, what {@link #inspect} shows
     */
    default Mono<Boolean> isCurrent(String key, long fencingToken) {
        return inspect(key).map(info -> {
            if (!(info instanceof LockInfo.Held held)) {
                return false;
            }
            LockInfo.Shares shares = held.shares();
            if (held.fencingToken() == fencingToken || shares == null) {
                return held.fencingToken() == fencingToken;
            }
            boolean isShown = shares.first().stream().anyMatch(holder -> holder.fencingToken() == fencingToken);
            if (!isShown && shares.holders() > shares.first().size()) {
                throw new IllegalStateException("'" + key + "' is shared by " + shares.holders()
                        + " and the store shows only the newest "
                        + shares.first().size()
                        + "; let the resource compare tokens instead");
            }
            return isShown;
        });
    }

    /**
     * Looks at the next few of the locks that are held, one after the other part after part. A lock that is held all
     * the time is in one part at least, and may be in two; no question makes the server look at more than a few
     * thousand keys at once, where it can be avoided.
     *
     * @param prefix what the keys begin with, as the user wrote them; empty for all
     * @param from empty for the first part, and {@link LockPage#next} of the part before for every other
     * @return a part; never empty; unless overridden an error that says that this store cannot list
     */
    default Mono<LockPage> list(String prefix, String from) {
        return Mono.error(() -> new UnsupportedOperationException(
                getClass().getSimpleName() + " cannot list its locks; ask for single keys with inspect"));
    }

    /**
     * Watches a lock. The first element, and the first after every interruption, is a {@link LockEvent.Snapshot} taken
     * when the watch was already in force, so that no change is lost between the two. A store whose pushes name a grant
     * and do not say whose it is may pass over one that has ended before it could be read. Cancelling ends the watch.
     *
     * @param key the lock's key
     * @return events, without end
     */
    Flux<LockEvent> events(String key);

    /**
     * Ends one grant, and no other, and hands the lock to the next live waiting claim in the same atomic step. For
     * operators. Where it can, the store pushes {@link Signal.Suspect} to the owner. Idempotent: said again, by a
     * driver whose connection broke for example, it leaves a later owner alone.
     *
     * @param key the lock's key
     * @param fencingToken the grant's token, as {@link #inspect} shows it
     * @return whether that grant was in force until now; never empty; an error where that is not known, as of
     *     {@link #release}
     */
    Mono<Boolean> forceRelease(String key, long fencingToken);

    /**
     * Ends what this backend opened itself; what it was given by the user is left open. Idempotent.
     *
     * @return completes when nothing of this backend is left
     */
    Mono<Void> close();
}
