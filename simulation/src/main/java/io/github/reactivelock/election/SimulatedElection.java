package io.github.reactivelock.election;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.NullMarked;
import reactor.core.scheduler.Scheduler;

/** What a simulation needs of an election and no application does. */
@NullMarked
public final class SimulatedElection {

    private SimulatedElection() {}

    /**
     * A candidate with nothing left to chance.
     *
     * @param client by which it locks
     * @param key of the election
     * @param timer where its pauses run
     * @param chance a number from 0 to 1 for each pause
     * @return the candidate
     */
    public static LeaderElection of(LockClient client, String key, Scheduler timer, DoubleSupplier chance) {
        LeaderElection candidate = LeaderElection.of(client, key);
        return candidate.with(candidate.pauses().withTimer(timer).withChance(chance));
    }

    /**
     * The hold behind a term.
     *
     * @param term of a candidate made by {@link #of}
     * @return its handle
     */
    public static LockHandle heldBy(Leadership term) {
        return ((Term) term).held;
    }
}
