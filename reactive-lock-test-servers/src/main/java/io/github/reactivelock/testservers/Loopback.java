package io.github.reactivelock.testservers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/** 127.0.0.1, where all servers of the tests listen. */
public final class Loopback {

    private static final int FIRST_PORT = 10_000;
    private static final int PORTS = 10_000;
    private static final int PART = 500;
    private static final List<FileChannel> LOCKED = new CopyOnWriteArrayList<>();
    private static final int FIRST_OF_PART = FIRST_PORT + PART * part();
    private static final AtomicInteger NEXT = new AtomicInteger();

    private Loopback() {}

    /**
     * The part of the ports that this JVM uses, and no other JVM while it lives: a server that stops and comes back
     * wants its old port. Any part, if all are taken.
     */
    private static int part() {
        int parts = PORTS / PART;
        int any = ThreadLocalRandom.current().nextInt(parts);
        return IntStream.range(0, parts)
                .map(i -> (any + i) % parts)
                .filter(Loopback::lock)
                .findFirst()
                .orElse(any);
    }

    /** Takes a file's lock, which the system releases when the JVM ends. */
    private static boolean lock(int part) {
        Path file = Path.of(System.getProperty("java.io.tmpdir"), "reactive-lock-ports-" + part);
        try {
            FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            LOCKED.add(channel);
            return channel.tryLock() != null;
        } catch (IOException | OverlappingFileLockException e) {
            return false;
        }
    }

    static InetAddress address() {
        try {
            return InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
        } catch (UnknownHostException e) {
            throw new UncheckedIOException(e);
        }
    }

    static InetSocketAddress port(int port) {
        return new InetSocketAddress(address(), port);
    }

    /** A free port whose port 10,000 above, for the bus of a Redis cluster, is free too. */
    static int freePortWithBus() {
        while (true) {
            int port = freePort();
            if (isFree(port + PORTS)) {
                return port;
            }
        }
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket()) {
            socket.bind(port(port));
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * A port that is free at the moment. It is not the kernel's choice: the kernel would choose from its range for
     * outgoing connections, and could give the port to one of them before the server starts.
     *
     * @return a port that was not returned before, unless all were
     */
    public static int freePort() {
        for (int tries = 0; tries < PART; tries++) {
            int port = FIRST_OF_PART + Math.floorMod(NEXT.getAndIncrement(), PART);
            if (isFree(port)) {
                return port;
            }
        }
        throw new IllegalStateException("no free port on 127.0.0.1 between " + FIRST_OF_PART + " and "
                + (FIRST_OF_PART + PART - 1) + ": stop what listens there");
    }
}
