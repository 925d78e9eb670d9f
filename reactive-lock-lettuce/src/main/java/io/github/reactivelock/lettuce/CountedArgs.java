package io.github.reactivelock.lettuce;

import io.lettuce.core.protocol.CommandArgs;
import io.netty.buffer.ByteBuf;

/**
 * The arguments of a command, which know how often they were written: Lettuce says a command again on the next
 * connection, and does not tell.
 */
final class CountedArgs extends CommandArgs<String, String> {

    private volatile int written;

    CountedArgs() {
        super(Utf8.CODEC);
    }

    /** Called on the connection's event loop, one after the other. */
    @Override
    @SuppressWarnings("NonAtomicVolatileUpdate") // by one thread at a time
    public void encode(ByteBuf buffer) {
        written++;
        super.encode(buffer);
    }

    boolean isRepeated() {
        return written > 1;
    }
}
