package io.github.reactivelock.spring.boot;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.spring.boot.LocalLocks.Local;
import io.github.reactivelock.state.LockInfo;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import reactor.core.publisher.Mono;

/**
 * What this process holds and waits for; one lock as the store shows it; and its release by force, which is not exposed
 * unless {@code management.endpoint.locks.access} is {@code unrestricted}. Fencing tokens are texts, because a number
 * of JavaScript would not hold all their digits.
 */
@Endpoint(id = "locks", defaultAccess = Access.READ_ONLY)
final class LocksEndpoint {

    /** Most waits and most holds to show; a process may have many thousands of waits. */
    static final int MOST = 1_000;

    private final LockClient client;
    private final @Nullable LocalLocks local;

    /** Knows of no locks of this process if the application made the client and gave it no listener. */
    LocksEndpoint(LockClient client, @Nullable LocalLocks local) {
        this.client = client;
        this.local = local;
    }

    @ReadOperation
    LocalDescriptor locks() {
        if (local == null) {
            return new LocalDescriptor(0, 0, List.of(), List.of());
        }
        List<Local> held = local.held();
        List<Local> waiting = local.waiting();
        return new LocalDescriptor(
                held.size(),
                waiting.size(),
                held.stream().limit(MOST).map(LocksEndpoint::held).toList(),
                waiting.stream()
                        .limit(MOST)
                        .map(wait -> new WaitDescriptor(wait.key(), wait.since()))
                        .toList());
    }

    private static HoldDescriptor held(Local hold) {
        return new HoldDescriptor(
                hold.key(),
                Long.toString(hold.fencingToken()),
                hold.since(),
                hold.request().remaining());
    }

    @ReadOperation
    Mono<LockDescriptor> lock(@Selector String key) {
        return client.inspect(key).map(LocksEndpoint::described);
    }

    private static LockDescriptor described(LockInfo lock) {
        if (!(lock instanceof LockInfo.Held held)) {
            return new LockDescriptor(lock.key(), false, null, null, null, null, 0, List.of(), null, false);
        }
        return new LockDescriptor(
                held.key(),
                true,
                held.owner(),
                Long.toString(held.fencingToken()),
                held.remaining(),
                held.age(),
                held.waiters(),
                held.queue().stream()
                        .map(waiting -> new QueuedDescriptor(waiting.owner(), waiting.age()))
                        .toList(),
                held.shares() == null ? null : described(held.shares()),
                held.recallable());
    }

    private static SharesDescriptor described(LockInfo.Shares shares) {
        return new SharesDescriptor(
                shares.units(),
                shares.holders(),
                shares.first().stream()
                        .map(holder -> new ShareDescriptor(
                                holder.owner(),
                                Long.toString(holder.fencingToken()),
                                holder.units(),
                                holder.remaining()))
                        .toList());
    }

    /** Ends the one grant with this token: a parameter that is misspelt or empty must not end another one. */
    @DeleteOperation
    Mono<ReleaseDescriptor> release(@Selector String key, String fencingToken) {
        long token = token(fencingToken);
        return client.forceRelease(key, token)
                .flatMap(released -> client.inspect(key)
                        .map(left -> new ReleaseDescriptor(released, described(left)))
                        .onErrorReturn(new ReleaseDescriptor(released, null)));
    }

    private static long token(String text) {
        try {
            return Long.parseLong(text.strip());
        } catch (NumberFormatException e) {
            throw new InvalidEndpointRequestException(
                    "fencingToken is '" + text + "', which is no fencing token",
                    "fencingToken has to be the token of the grant to end, as GET shows it");
        }
    }

    /**
     * The locks of this process.
     *
     * @param heldCount how many are held
     * @param waitingCount how many are waited for
     * @param held the ones held for longest
     * @param waiting the ones waited for longest
     */
    record LocalDescriptor(
            long heldCount, long waitingCount, List<HoldDescriptor> held, List<WaitDescriptor> waiting) {}

    /**
     * A lock that this process holds.
     *
     * @param key its key
     * @param fencingToken of the hold
     * @param since when it was granted
     * @param remaining for how long the hold may be relied upon if the store is silent from now on
     */
    record HoldDescriptor(String key, String fencingToken, Instant since, Duration remaining) {}

    /**
     * A lock that this process waits for.
     *
     * @param key its key
     * @param since when the wait began
     */
    record WaitDescriptor(String key, Instant since) {}

    /**
     * A lock as the store shows it; what the store does not know is null.
     *
     * @param key its key
     * @param held whether any process holds it
     * @param owner who holds it
     * @param fencingToken of the store's grant
     * @param remaining of the lease
     * @param age of the grant
     * @param waiters claims in the store's queue
     * @param queue the first of them
     * @param shares how the lock is shared, or null; the owner is the newest of those then
     * @param recallable whether its client may keep it while no flow needs it
     */
    record LockDescriptor(
            String key,
            boolean held,
            @Nullable String owner,
            @Nullable String fencingToken,
            @Nullable Duration remaining,
            @Nullable Duration age,
            long waiters,
            List<QueuedDescriptor> queue,
            @Nullable SharesDescriptor shares,
            boolean recallable) {}

    /**
     * How a lock is shared.
     *
     * @param units in use
     * @param holders how many claims have them
     * @param first the newest of those
     */
    record SharesDescriptor(int units, long holders, List<ShareDescriptor> first) {}

    /**
     * A claim that shares a lock.
     *
     * @param owner whose
     * @param fencingToken of its grant
     * @param units how many it has
     * @param remaining of its lease
     */
    record ShareDescriptor(String owner, String fencingToken, int units, Duration remaining) {}

    /**
     * A claim that waits.
     *
     * @param owner whose
     * @param age for how long
     */
    record QueuedDescriptor(String owner, @Nullable Duration age) {}

    /**
     * What became of a release by force.
     *
     * @param released false if the grant was over already
     * @param lock as it is now: others that share it hold it still, and one that waited may have
     *     it; null if the store did not say
     */
    record ReleaseDescriptor(boolean released, @Nullable LockDescriptor lock) {}
}
