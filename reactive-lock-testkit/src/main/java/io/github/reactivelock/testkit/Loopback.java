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
