package io.github.reactivelock.election;

import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockRequest;
import io.github.reactivelock.election.ElectionState.Idle;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * A candidate in an election. Candidates of all processes queue for one lock in order of arrival
 * ({@link Fairness#FIFO}); the one that has it leads. It leads until its work ends, until it steps down, or until it
 * loses the lock, and then queues again behind the others. A loss cancels the work before another term can begin; only
 * a process that was paused learns of it late, and its writes are refused where the resource checks the
 * {@linkplain Leadership#term() term}.
 *
 * <p>The lease of the client's options is how long the others wait after a leader's death; {@code maxHold} limits a
 * term. The wait timeout does not count, and holds are always renewed. The name that others see is the client's, or the
 * options' owner.
 *
 * <p>One object is one candidate. Have one for a key and client: where two share a client, the second may follow the
 * first without the store, so observers do not notice. Safe for use from any thread. Immutable but for the state; each
 * {@code with…} method makes another candidate.
 */
public final class LeaderElection {

    private static final Duration LONGEST = Duration.ofDays(1);

    private final LockClient locks;
    private final String key;
    private final Pauses pauses;
    private final LeaderWatch leaderWatch;
    private final LatestState state;

    LeaderElection(LockClient locks, String key, Pauses pauses) {
        this.locks = locks;
        this.key = key;
        this.pauses = pauses;
        this.leaderWatch = new LeaderWatch(locks, key, () -> new Backoff(pauses), pauses::now);
        this.state = new LatestState(new Idle(pauses.now(), null));
    }

    /**
     * A candidate that rests for a second after each term, and tries again after 100 milliseconds to 10 seconds while
     * the store is not available.
     *
     * @param client by which it locks; not closed
     * @param key the election's key, which is a lock's key and used for nothing else
     * @return the candidate, which does not campaign yet
     */
    public static LeaderElection of(LockClient client, String key) {
        if (!client.options().share().isWhole()) {
            throw new IllegalArgumentException(
                    "the leader of '" + key + "' would be one of several: the client shares its" + " locks, as "
                            + client.options().share().text() + "; give the election one that does not");
        }
        LockClient inOrder = client.with(client.options()
                .withFairness(Fairness.FIFO)
                .withRenewal()
                .withoutWaitTimeout()
                .withoutRetention());
        return new LeaderElection(inOrder, key, Pauses.usual());
    }

    /**
     * Sets how long a candidate that stepped down waits before it queues again.
     *
     * @param rest between 0 and a day; a second if not called
     * @return another candidate
     */
    public LeaderElection withRest(Duration rest) {
        return with(pauses.withRest(checked("rest", rest, Duration.ZERO)));
    }

    /**
     * Sets how long a candidate waits before it tries again after an error of the lock: the first pause, then twice as
     * long each time, up to the longest. Half of each is drawn by chance, so that candidates do not all come at once. A
     * try that lasted for longer than the longest pause begins the series anew.
     *
     * @param first between 1 millisecond and a day; 100 milliseconds if not called
     * @param longest between {@code first} and a day; 10 seconds if not called
     * @return another candidate
     */
    public LeaderElection withBackoff(Duration first, Duration longest) {
        Duration checkedFirst = checked("first pause", first, Duration.ofMillis(1));
        return with(pauses.withBackoff(checkedFirst, checked("longest pause", longest, checkedFirst)));
    }

    /**
     * Sets what the pauses run on; for tests in virtual time. The only user code that runs there is
     * {@code LockListener.waiting}.
     *
     * @param timer threads of the library if not called; never disposed
     * @return another candidate
     */
    public LeaderElection withTimer(Scheduler timer) {
        return with(pauses.withTimer(Objects.requireNonNull(timer, "timer")));
    }

    /** With what is left to chance too. */
    LeaderElection with(Pauses others) {
        return new LeaderElection(locks, key, others);
    }

    Pauses pauses() {
        return pauses;
    }

    /**
     * Campaigns for ever: leads by running the work, and campaigns again when the work completed, when the leader
     * stepped down, and when the lock was lost or not available. Cold. One subscription at a time: another one
     * meanwhile fails with {@link IllegalStateException}. Cancelling cancels the work and gives the lock up at once.
     *
     * @param work what a leader does, called at the beginning of each term, on the work scheduler of the client
     * @param <T> the values' type
     * @return the values of all terms; fails with an error of the work, after the lock was given up, and with {@link
     *     io.github.reactivelock.LockClientClosedException}
     */
    public <T> Flux<T> lead(Function<? super Leadership, ? extends Publisher<T>> work) {
        Objects.requireNonNull(work, "work");
        return candidate(
                work,
                campaign -> campaign.untilLed()
                        .repeatWhen(terms -> terms.concatMap(values -> Mono.delay(pauses.rest(), pauses.timer()))));
    }

    /**
     * Campaigns until this candidate has led once: until the work completed or failed, or the leader stepped down. A
     * term that is lost does not count; the work is then called again in the next one. Else as {@link #lead}.
     *
     * @param work what the leader does
     * @param <T> the value's type
     * @return the work's outcome; empty if the leader stepped down
     */
    public <T> Mono<T> leadOnce(Function<? super Leadership, ? extends Mono<T>> work) {
        Objects.requireNonNull(work, "work");
        return candidate(work, Campaign<T>::untilLed).singleOrEmpty();
    }

    /**
     * Tells who leads, whether this candidate campaigns or not. Pushed by the store, and looked at again when a
     * leader's lease ends. While the store is not available it goes on trying. Cold; each subscription watches the
     * store for itself.
     *
     * @return {@code Following} and {@code Seeking}, each when it differs from the one before, until cancelled; fails
     *     with {@link io.github.reactivelock.LockClientClosedException}
     */
    public Flux<ElectionState> observe() {
        return leaderWatch.states().onErrorStop();
    }

    /**
     * Tells the requests of candidates apart from those of flows that want to go on: a candidate may well wait for
     * ever, and a leader hold for ever. For listeners; locks that the work of a leader takes are not meant.
     *
     * @param request what a {@link io.github.reactivelock.LockListener} is called with
     * @return whether a candidate asked for it
     */
    public static boolean isCandidate(LockRequest request) {
        return request.context().hasKey(Campaign.CANDIDATE);
    }

    /** {@return the key of the election, as the user wrote it} */
    public String key() {
        return key;
    }

    /**
     * The state of this candidate.
     *
     * @return the present one
     */
    public ElectionState state() {
        return state.get();
    }

    /**
     * The states of this candidate: the present one and what follows, told where they arise, so a subscriber must not
     * block. A subscriber that is slow gets the newest. An error that a subscriber throws is dropped, as by
     * {@code Hooks.onErrorDropped}: the others get each state, and so does this subscriber get the next ones.
     *
     * @return states until cancelled; never fails
     */
    public Flux<ElectionState> states() {
        return state.changes();
    }

    private <T> Flux<T> candidate(
            Function<? super Leadership, ? extends Publisher<T>> work, Function<Campaign<T>, Flux<T>> course) {
        return Flux.defer(() -> {
            Campaign<T> campaign =
                    new Campaign<>(locks, key, work, leaderWatch, new Backoff(pauses), state, pauses::now);
            if (!campaign.begin()) {
                return Flux.error(new IllegalStateException("the candidate for '" + key
                        + "' campaigns already; cancel that first, or make another LeaderElection"));
            }
            return course.apply(campaign)
                    .doOnComplete(() -> campaign.end(null))
                    .doOnError(campaign::end)
                    .doOnCancel(() -> campaign.end(null))
                    .onErrorStop(); // errors decide who leads, also those of the work
        });
    }

    private static Duration checked(String name, Duration value, Duration shortest) {
        Objects.requireNonNull(value, name);
        if (value.compareTo(shortest) < 0 || value.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException(name + " of an election must be " + shortest + " to " + LONGEST
                    + " but is " + value + "; give a Duration in that range");
        }
        return value;
    }

    @Override
    public String toString() {
        return "LeaderElection[key=" + key + ", state=" + state.get() + "]";
    }
}
