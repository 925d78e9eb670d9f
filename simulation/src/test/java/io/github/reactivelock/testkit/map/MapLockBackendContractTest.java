package io.github.reactivelock.testkit.map;

import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.testkit.Feature;
import io.github.reactivelock.testkit.LockBackendContract;
import java.util.Set;

class MapLockBackendContractTest extends LockBackendContract {

    private final OrderedMap<LockState> map = new OrderedMap<>();

    @Override
    protected LockBackend newBackend() {
        return new MapLockBackend(map);
    }

    /** It has to be asked. */
    @Override
    protected Set<Feature> lacking() {
        return Set.of(
                Feature.SHARES,
                Feature.PERMITS,
                Feature.PUSHED_GRANTS,
                Feature.PUSHED_LOSS,
                Feature.LISTING,
                Feature.AGE_OF_HOLDS,
                Feature.SHOWN_WAITERS,
                Feature.AGE_OF_WAITERS);
    }
}
