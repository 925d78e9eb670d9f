package io.github.reactivelock;

import io.github.reactivelock.text.Validation;
import java.util.Optional;
import java.util.function.Function;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * Reentrancy by Reactor Context. What runs under {@code withLock} carries its hold in the Context and needs nothing
 * from here. To make {@code acquire} reentrant as well, give the flow a name:
 *
 * <pre>{@code
 * flow.contextWrite(LockContext.owner("saga-17"))
 * }</pre>
 *
 * <p>An acquisition below it, of a key that a flow of the same name already holds through the same client, joins that
 * hold. Where {@link LockOptions#owner()} is not set, people see this name as that of the lock's owner. Two
 * acquisitions that are both still waiting do not join: one gets the lock and the other waits for its release, so do
 * not zip them.
 */
public final class LockContext {

    private static final Object OWNER = new Object() {
        @Override
        public String toString() {
            return "reactive-lock.owner";
        }
    };

    private LockContext() {}

    /**
     * A change of Context, for {@code contextWrite}, that names the flow of everything acquired upstream of it.
     *
     * @param owner the flow's name: not blank, at most 200 bytes of UTF-8, without control characters; flows that use
     *     the same name share their locks
     * @return the change
     */
    public static Function<Context, Context> owner(String owner) {
        String checked = Validation.owner(owner);
        return context -> context.put(OWNER, checked);
    }

    /**
     * The flow's name in a Context.
     *
     * @param context where to look
     * @return empty if none was named
     */
    public static Optional<String> owner(ContextView context) {
        return context.getOrEmpty(OWNER);
    }
}
