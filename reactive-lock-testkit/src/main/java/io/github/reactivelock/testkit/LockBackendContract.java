package io.github.reactivelock.testkit;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.spi.LockBackend;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Nested;

/**
 * JUnit test cases that every backend has to pass. Extend it and say how to make a backend. The cases use {@code
 * LockClient}, so they test the engine and the store together. A case must leave nothing at the store.
 */
public abstract class LockBackendContract {

    /** For subclasses. */
    protected LockBackendContract() {}

    /**
     * Makes a new backend for one more client. All backends of a test class use the same store.
     *
     * @return a backend that the contract closes
     */
    protected abstract LockBackend newBackend();

    /**
     * The capabilities that this store lacks.
     *
     * @return nothing, unless overridden
     */
    protected Set<Feature> lacking() {
        return Set.of();
    }

    /**
     * The lease of the cases that wait for one to run out, or for renewals.
     *
     * @return two seconds, so that a renewal comes in time on a busy machine; more for a store of many round trips
     */
    protected Duration shortLease() {
        return Duration.ofSeconds(2);
    }

    /**
     * How long clients wait for an answer before they consider the store silent. Cases with a silent store use clients
     * with less patience.
     *
     * @return twenty seconds, so that a busy machine does not look like a silent store
     */
    protected Duration commandTimeout() {
        return Duration.ofSeconds(20);
    }

    /**
     * How many acquisitions are cancelled at a random moment.
     *
     * @return the system property {@code reactivelock.contract.races}, or 1,000
     */
    protected int cancelRaces() {
        return Integer.getInteger("reactivelock.contract.races", 1_000);
    }

    /**
     * How many random steps each comparison with the rule of shares takes.
     *
     * @return 100
     */
    protected int shareSteps() {
        return 100;
    }

    /**
     * A backend over a driver's client that belongs to the user.
     *
     * @param backend the backend
     * @param clientWorks whether that client still works
     */
    public record Lent(LockBackend backend, BooleanSupplier clientWorks) {}

    /**
     * Makes a backend over a client that the user made.
     *
     * @return empty if this backend takes none
     */
    protected Optional<Lent> lent() {
        return Optional.empty();
    }

    /**
     * A backend whose connections a case can break.
     *
     * @param backend the backend
     * @param cut breaks all of them, and keeps others from being opened; the store goes on
     * @param mend lets them be opened again
     */
    public record Line(LockBackend backend, Runnable cut, Runnable mend) {}

    /**
     * Makes a backend whose connections can be broken.
     *
     * @return one that seems to be cut off, unless overridden; better one behind a proxy
     */
    protected Line line() {
        FaultyBackend backend = new FaultyBackend(newBackend());
        return new Line(backend, backend::cut, backend::mend);
    }

    /** How long a client may need to notice that its connections are broken. */
    Duration longestToNotice() {
        return Await.LIMIT;
    }

    /**
     * Spoils a lock that is held, so that its renewal is refused or finds nothing: one of several that are renewed
     * together.
     *
     * @param key the lock's key
     * @return run when the others have been renewed, and removes what was put in the place of the lock; unless
     * overridden,
     *     another client takes the lock away by force, and nothing is left to do
     */
    protected Runnable spoil(String key) {
        LockClient operator = LockClient.create(newBackend());
        Await.run(operator.forceRelease(key).then(operator.close()));
        return () -> {};
    }

    /** The client that the cases use, which may be another view of it. */
    LockClient view(LockClient client) {
        return client;
    }

    /** Called after each case, with all its clients closed: throws if the store keeps more than it should. */
    protected void assertStoreIsClean() {}

    @Nested
    class Exclusion extends ExclusionCases {
        Exclusion() {
            super(LockBackendContract.this);
        }
    }

    @Nested
    class Leases extends LeaseCases {
        Leases() {
            super(LockBackendContract.this);
        }
    }

    @Nested
    class Tokens extends TokenCases {
        Tokens() {
            super(LockBackendContract.this);
        }
    }

    @Nested
    class Order extends OrderCases {
        Order() {
            super(LockBackendContract.this);
        }
    }

    @Nested
    class Waiting extends WaitingCases {
        Waiting() {
            super(LockBackendContract.this);
        }
    }

    @Nested
    class IfFree extends IfFreeCases {
        IfFree() {
            super(LockBackendContract.this);
        }
    }

    @Nested
    class MinHold extends MinHoldCases {
        MinHold() {
            super(LockBackendContract.this);
        }
    }

    @Nested
    class LockDelay extends LockDelayCases {
        LockDelay() {
            super(LockBackendContract.this);
        }
    }

    @Nested
    class Retention extends RetentionCases {
        Retention() {
            super(LockBackendContract.this);
        }
    }

    @Nested
    class Cancellation extends CancellationCases {
        Cancellation() {
            super(LockBackendContract.this);
        }
    }

    @Nested
    class Background extends BackgroundCases {
        Background() {
            super(LockBackendContract.this);
        }
    }

    @Nested
    class Reentrancy extends ReentrancyCases {
        Reentrancy() {
            super(LockBackendContract.this);
        }
    }

    @Nested
    class Operators extends OperatorCases {
        Operators() {
            super(LockBackendContract.this);
        }
    }

    @Nested
    class Elections extends ElectionCases {
        Elections() {
            super(LockBackendContract.this);
        }
    }

    @Nested
    class Keys extends KeyCases {
        Keys() {
            super(LockBackendContract.this);
        }
    }

    @Nested
    class Failures extends FailureCases {
        Failures() {
            super(LockBackendContract.this);
        }
    }

    @Nested
    class Looking extends LookingCases {
        Looking() {
            super(LockBackendContract.this);
        }
    }

    @Nested
    class Listeners extends ListenerCases {
        Listeners() {
            super(LockBackendContract.this);
        }
    }

    @Nested
    class States extends StatesCases {
        States() {
            super(LockBackendContract.this);
        }
    }

    @Nested
    class Surroundings extends SurroundingsCases {
        Surroundings() {
            super(LockBackendContract.this);
        }
    }

    @Nested
    class Repetition extends RepetitionCases {
        Repetition() {
            super(LockBackendContract.this);
        }
    }

    @Nested
    class Closing extends ClosingCases {
        Closing() {
            super(LockBackendContract.this);
        }
    }

    @Nested
    class Shares extends ShareCases {
        Shares() {
            super(LockBackendContract.this);
        }
    }

    @Nested
    class LivesOfShares extends ShareLifeCases {
        LivesOfShares() {
            super(LockBackendContract.this);
        }
    }
}
