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
     * Which part of the ports this JVM takes from, and no other one while it lives: a server that is stopped and comes
     * back wants the port it had. Any part, if all are taken.
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

    /** Takes a file's lock, which the system gives back when the JVM ends. */
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

    /** A port that nobody listens on at the moment, nor on the one 10,000 above it, where a Redis cluster's bus is. */
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
     * A port that nobody listens on at the moment. Not the kernel's choice: that one is of the range from which it takes
     * ports for outgoing connections, and might have given it to one of them before the server has started.
     *
     * @return a port that was not returned before, until all were
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
