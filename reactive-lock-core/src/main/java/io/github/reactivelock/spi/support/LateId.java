package io.github.reactivelock.spi.support;

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A name that is made when it is first asked for, and stays then. Two processes that go on from one snapshot must not have one
 * identity, so no name of a process is made together with the objects that will use it. Safe for use from any thread.
 */
public final class LateId {

    private final Supplier<String> source;
    private final AtomicReference<@Nullable String> made = new AtomicReference<>();

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
     * @return always the same
     */
    public String get() {
        String known = made.get();
        if (known == null) {
            String fresh = source.get();
            known = made.compareAndSet(null, fresh) ? fresh : get();
        }
        return known;
    }

    /** Tells whether it was asked for. */
    @Override
    public String toString() {
        String known = made.get();
        return known == null ? "(not used yet)" : known;
    }
}
