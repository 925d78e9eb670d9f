package io.github.reactivelock.spi.support;

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A name that is made when it is first asked for, and stays then until a snapshot of the process is taken
 * ({@link Snapshots}). Two processes that go on from one snapshot must not have one identity, so no name of a process
 * is made together with the objects that will use it. Safe for use from any thread.
 */
public final class LateId {

    private final Supplier<String> source;
    private final AtomicReference<@Nullable Made> made = new AtomicReference<>();

    private record Made(String name, int snapshots) {}

    /** One that is drawn by {@link RandomId}. */
    public LateId() {
        this(RandomId::next);
    }

    /**
     * One from another source.
     *
     * @param source may be called more than once, by threads that ask at the same time
     */
    public LateId(Supplier<String> source) {
        this.source = source;
    }

    /**
     * The name.
     *
     * @return the same between two snapshots of the process
     */
    public String get() {
        Made known = made.get();
        int snapshots = Snapshots.taken();
        if (known != null && known.snapshots == snapshots) {
            return known.name;
        }
        Made fresh = new Made(source.get(), snapshots);
        return made.compareAndSet(known, fresh) ? fresh.name : get();
    }

    /** Tells whether it was asked for. */
    @Override
    public String toString() {
        Made known = made.get();
        return known == null ? "(not used yet)" : known.name;
    }
}
