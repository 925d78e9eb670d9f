package io.github.reactivelock.testkit;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.LockBackend;
import org.junit.jupiter.api.Nested;

/** One permit of one is a lock like any other: the groups about exclusive locks, on the way that shares go. */
class OneOfOneTest {

    private static final class OneOfOne extends LockBackendContract {

        private final InMemoryLockBackend store = InMemoryLockBackend.create();

        @Override
        protected LockBackend newBackend() {
            return store.connect();
        }

        @Override
        LockClient view(LockClient client) {
            return client.permits(1, 1);
        }

        @Override
        protected void assertStoreIsClean() {
            if (store.size() != 0) {
                throw new AssertionError(store.size() + " keys are left");
            }
        }
    }

    @Nested
    class Exclusion extends ExclusionCases {
        Exclusion() {
            super(new OneOfOne());
        }
    }

    @Nested
    class Leases extends LeaseCases {
        Leases() {
            super(new OneOfOne());
        }
    }

    @Nested
    class Waiting extends WaitingCases {
        Waiting() {
            super(new OneOfOne());
        }
    }

    @Nested
    class IfFree extends IfFreeCases {
        IfFree() {
            super(new OneOfOne());
        }
    }

    @Nested
    class MinHold extends MinHoldCases {
        MinHold() {
            super(new OneOfOne());
        }
    }

    @Nested
    class LockDelay extends LockDelayCases {
        LockDelay() {
            super(new OneOfOne());
        }
    }

    @Nested
    class Cancellation extends CancellationCases {
        Cancellation() {
            super(new OneOfOne());
        }
    }

    @Nested
    class Reentrancy extends ReentrancyCases {
        Reentrancy() {
            super(new OneOfOne());
        }
    }

    @Nested
    class Failures extends FailureCases {
        Failures() {
            super(new OneOfOne());
        }
    }
}
