package io.github.reactivelock.faults;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Two workloads in memory that all processes share: counters that are read and later written without any protection of
 * their own, and registers that refuse an older fencing token. What a process wrote stays when it is killed.
 */
final class SharedNumbers {

    static final int SLOTS = 24;
    private static final int CLIENTS = 2_000;
    private static final int PER_SLOT = CLIENTS + 2;
    private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private final ByteBuffer memory;
    private final int client;

    /** The memory that this file stands for, as one client of it. */
    SharedNumbers(Path file, int client) {
        this.client = client;
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, SLOTS * PER_SLOT * (long) Long.BYTES);
        } catch (IOException e) {
            throw new UncheckedIOException("no shared memory at " + file, e);
        }
    }

    long value(int slot) {
        return (long) LONGS.getVolatile(memory, at(slot, 0));
    }

    /** Writes the counter, then counts that it did: a process killed between the two has lost nothing. */
    void write(int slot, long value) {
        LONGS.setVolatile(memory, at(slot, 0), value);
        LONGS.getAndAdd(memory, at(slot, 2 + client), 1L);
    }

    /** Writes that were overwritten by somebody who had not seen them, over all counters. */
    long lostUpdates() {
        long lost = 0;
        for (int slot = 0; slot < SLOTS; slot++) {
            long written = 0;
            for (int i = 0; i < CLIENTS; i++) {
                written += (long) LONGS.getVolatile(memory, at(slot, 2 + i));
            }
            lost += Math.max(0, written - value(slot));
        }
        return lost;
    }

    /** Whether the register takes a write with this token: it does unless it has seen a higher one. */
    boolean accepts(int slot, long token) {
        long seen = (long) LONGS.getVolatile(memory, at(slot, 1));
        while (token > seen) {
            if (LONGS.compareAndSet(memory, at(slot, 1), seen, token)) {
                return true;
            }
            seen = (long) LONGS.getVolatile(memory, at(slot, 1));
        }
        return token == seen;
    }

    private static int at(int slot, int place) {
        return (slot * PER_SLOT + place) * Long.BYTES;
    }
}
