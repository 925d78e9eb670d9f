package io.github.reactivelock.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/** 127.0.0.1, where all servers of the tests listen. */
public final class Loopback {

    private static final int FIRST_PORT = 10_000;
    private static final int PORTS = 10_000;
    /** Begins anywhere, because other processes look for ports at the same time. */
    private static final AtomicInteger NEXT =
            new AtomicInteger(ThreadLocalRandom.current().nextInt(PORTS));

    private Loopback() {}

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
        for (int tries = 0; tries < PORTS; tries++) {
            int port = FIRST_PORT + Math.floorMod(NEXT.getAndIncrement(), PORTS);
            if (isFree(port)) {
                return port;
            }
        }
        throw new IllegalStateException("no free port on 127.0.0.1 between " + FIRST_PORT + " and "
                + (FIRST_PORT + PORTS - 1) + ": stop what listens there");
    }
}
