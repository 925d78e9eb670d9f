package io.github.reactivelock.examples.webflux;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import reactor.blockhound.BlockHound;
import reactor.blockhound.BlockingOperationError;
import reactor.blockhound.integration.BlockHoundIntegration;

/** Remembers each blocking call that BlockHound sees, for errors thrown there may be swallowed on their way. */
public final class Blocked implements BlockHoundIntegration {

    public static final List<String> CALLS = new CopyOnWriteArrayList<>();

    @Override
    public void applyTo(BlockHound.Builder builder) {
        builder.blockingMethodCallback(method -> {
            BlockingOperationError error = new BlockingOperationError(method);
            CALLS.add(Thread.currentThread().getName() + ": " + method + "\n  at "
                    + String.join(
                            "\n  at ",
                            List.of(error.getStackTrace()).stream()
                                    .map(String::valueOf)
                                    .toList()));
            throw error;
        });
        // Of the libraries, each once: Lettuce's state of a connection, its table of methods, Jackson's table of
        // readers.
        builder.allowBlockingCallsInside("io.lettuce.core.protocol.SharedLock", "incrementWriters");
        builder.allowBlockingCallsInside("io.lettuce.core.protocol.SharedLock", "decrementWriters");
        builder.allowBlockingCallsInside("io.lettuce.core.protocol.SharedLock", "doExclusive");
        builder.allowBlockingCallsInside("io.lettuce.core.internal.AbstractInvocationHandler$MethodTranslator", "of");
        builder.allowBlockingCallsInside(
                "tools.jackson.databind.deser.DeserializerCache", "_createAndCacheValueDeserializer");
    }
}
