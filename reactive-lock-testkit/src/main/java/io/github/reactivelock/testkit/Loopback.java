package io.github.reactivelock.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;

/** 127.0.0.1, where all servers of the tests listen. */
final class Loopback {

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
            if (port < 55_000 && isFree(port + 10_000)) {
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

    /** A port that nobody listens on at the moment. */
    static int freePort() {
        try (ServerSocket socket = new ServerSocket()) {
            socket.bind(port(0));
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException("no free port on 127.0.0.1", e);
        }
    }
}
