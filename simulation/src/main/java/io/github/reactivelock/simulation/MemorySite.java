package io.github.reactivelock.simulation;

import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.FencingTokens;
import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LockInfo;
import java.time.Duration;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import reactor.core.scheduler.Scheduler;

/**
 * The in-process store as a server. It can only lose all or nothing. Its tokens are made to begin at the time, as
 * Redis's do: once or each.
 */
final class MemorySite implements Site {

    private final World world;
    private final boolean numbersByTime;
    private long ahead;
    private long excusedBelow;
    private long since;
    private int generation;
    private InMemoryLockBackend store;

    /** @param numbersByTime no two sites give the same token to a claim */
    MemorySite(World world, boolean numbersByTime) {
        this.world = world;
        this.numbersByTime = numbersByTime;
        this.store = begin(tokenOfNow());
    }

    private long clock() {
        return world.now() + ahead;
    }

    private InMemoryLockBackend begin(long above) {
        InMemoryLockBackend begun = InMemoryLockBackend.create(this::clock);
        raise(begun, above);
        return begun;
    }

    private static void raise(InMemoryLockBackend raised, long above) {
        Claim any = new Claim("simulation", "simulation", "simulation", Duration.ofSeconds(1), Claim.Mode.TRY);
        raised.raise(any, above, 0).block();
    }

    /**
     * What was proposed may be ahead of the time. A server needs longer to start than it takes a proposal ahead of its
     * clock.
     */
    private long lastToken() {
        Claim any = new Claim("simulation", "simulation", "simulation", Duration.ofSeconds(1), Claim.Mode.TRY);
        return ((ClaimResult.Granted) Objects.requireNonNull(store.claim(any).block())).fencingToken();
    }

    /** Above every token so far: there are far fewer grants than microseconds. */
    private long tokenOfNow() {
        return FencingTokens.of(Math.max(1, clock() / 1_000));
    }

    @Override
    public QuorumNode connect(String client, Scheduler timer, BooleanSupplier hears, Consumer<Signal> pushes) {
        InMemoryLockBackend connection = store.connect();
        connection
                .signals()
                .filter(signal -> !(signal instanceof Signal.Reconnected))
                .subscribe(pushes, failure -> {});
        return connection;
    }

    @Override
    public void mayGrant() {
        if (numbersByTime) {
            raise(store, tokenOfNow());
        }
    }

    @Override
    public void lose(Duration late) {
        store = begin(Math.max(tokenOfNow(), lastToken()));
        generation++;
        since = world.now();
        excusedBelow = tokenOfNow();
    }

    @Override
    public void jump(Duration jump) {
        ahead += jump.toNanos();
        long above = tokenOfNow();
        raise(store, above);
        excusedBelow = above;
    }

    @Override
    public long excusedBelow() {
        return excusedBelow;
    }

    @Override
    public int generation() {
        return generation;
    }

    @Override
    public long since() {
        return since;
    }

    @Override
    public LockInfo inspect(String key) {
        return Objects.requireNonNull(store.inspect(key).block());
    }

    @Override
    public int size() {
        return store.size();
    }
}
