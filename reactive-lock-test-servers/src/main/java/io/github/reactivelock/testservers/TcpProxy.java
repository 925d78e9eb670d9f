package io.github.reactivelock.testservers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A proxy between a client and a server of 127.0.0.1 that can break the network between them. It has one mode at a
 * time, {@linkplain #mend() flowing} at first, which applies to open connections and to new ones. Safe for use from any
 * thread; its own threads are daemons.
 */
public final class TcpProxy implements AutoCloseable {

    private enum Mode {
        FLOW,
        DROP_REPLIES,
        FREEZE,
        CUT
    }

    private final ServerSocket listening;
    private final int target;
    private final Set<Link> links = ConcurrentHashMap.newKeySet();
    private final Object modeChanged = new Object();
    private final AtomicLong roundTrips = new AtomicLong();
    private volatile Mode mode = Mode.FLOW;
    private volatile Duration delay = Duration.ZERO;

    private TcpProxy(int target) {
        this.target = target;
        try {
            listening = new ServerSocket(0, 1_000, Loopback.address());
        } catch (IOException e) {
            throw new UncheckedIOException("no free port on 127.0.0.1", e);
        }
        thread("accept", this::accept);
    }

    /**
     * A proxy on a free port.
     *
     * @param port where the server listens at 127.0.0.1
     * @return a proxy that listens
     */
    public static TcpProxy to(int port) {
        return new TcpProxy(port);
    }

    /**
     * Where clients connect, at 127.0.0.1.
     *
     * @return the port
     */
    public int port() {
        return listening.getLocalPort();
    }

    /**
     * How many connections go through it now.
     *
     * @return the number of clients
     */
    public int connections() {
        return links.size();
    }

    /**
     * How often a client asked and had to wait: counts the first message, and the first after each answer, on any
     * connection.
     *
     * @return counted since the proxy listens
     */
    public long roundTrips() {
        return roundTrips.get();
    }

    /** Resets all connections, and every new one at once. */
    public void cut() {
        change(Mode.CUT);
        links.forEach(Link::reset);
    }

    /** Resets all connections; lets new ones through. */
    public void reset() {
        links.forEach(Link::reset);
    }

    /** Keeps all connections open, accepts new ones, and moves nothing until another mode is set. */
    public void freeze() {
        change(Mode.FREEZE);
    }

    /**
     * Lets requests through and loses the answers. When the mode ends, it resets every connection that carried data
     * meanwhile, so that no late answer of the server arrives.
     */
    public void dropReplies() {
        change(Mode.DROP_REPLIES);
    }

    /** Lets all data flow, frozen data included. */
    public void mend() {
        change(Mode.FLOW);
    }

    /**
     * Delays data in each direction, in every mode, until changed.
     *
     * @param delay zero for none
     */
    public void delay(Duration delay) {
        this.delay = Objects.requireNonNull(delay, "delay");
    }

    /** Resets all connections and stops listening. */
    @Override
    public void close() {
        change(Mode.CUT);
        closeQuietly(listening);
        links.forEach(Link::reset);
    }

    private void change(Mode next) {
        synchronized (modeChanged) {
            mode = next;
            modeChanged.notifyAll();
        }
        if (next != Mode.DROP_REPLIES) {
            links.stream().filter(link -> link.losesAnswers).forEach(Link::reset);
        }
    }

    private void accept() {
        while (!listening.isClosed()) {
            try {
                // The Link closes it.
                @SuppressWarnings("resource")
                Socket client = listening.accept();
                Link link = new Link(client);
                links.add(link);
                link.open();
            } catch (IOException e) {
                if (listening.isClosed()) {
                    return;
                }
            }
        }
    }

    private static void thread(String name, Runnable body) {
        Thread thread = new Thread(body, "tcp-proxy-" + name);
        thread.setDaemon(true);
        thread.start();
    }

    private static void closeQuietly(AutoCloseable closed) {
        try {
            closed.close();
        } catch (Exception e) {
            // It is gone either way.
        }
    }

    /** One client's connection and the one to the server that belongs to it. */
    private final class Link {

        private final Socket client;
        private final Socket server = new Socket();
        private volatile boolean over;
        private volatile boolean answered = true;
        volatile boolean losesAnswers;

        Link(Socket client) {
            this.client = client;
        }

        void open() throws IOException {
            if (mode == Mode.CUT) {
                reset();
                return;
            }
            try {
                client.setTcpNoDelay(true);
                server.setTcpNoDelay(true);
                server.connect(Loopback.port(target), 5_000);
            } catch (IOException e) {
                reset();
                throw e;
            }
            thread("requests", () -> pump(client, server, false));
            thread("replies", () -> pump(server, client, true));
        }

        void reset() {
            try {
                client.setSoLinger(true, 0);
                server.setSoLinger(true, 0);
            } catch (IOException e) {
                // Closed already.
            }
            end();
        }

        /** The end of one direction ends both. */
        private void end() {
            over = true;
            links.remove(this);
            synchronized (modeChanged) {
                modeChanged.notifyAll();
            }
            closeQuietly(client);
            closeQuietly(server);
        }

        private void pump(Socket from, Socket to, boolean replies) {
            byte[] buffer = new byte[65_536];
            try {
                for (int read = from.getInputStream().read(buffer);
                        read >= 0 && !over;
                        read = from.getInputStream().read(buffer)) {
                    if (!delay.isZero()) {
                        Pause.of(delay);
                    }
                    count(replies);
                    if (mayPass(replies)) {
                        to.getOutputStream().write(buffer, 0, read);
                    }
                }
            } catch (IOException e) {
                // The connection ended, here or there.
            }
            end();
        }

        private void count(boolean replies) {
            if (!replies && answered) {
                roundTrips.incrementAndGet();
            }
            answered = replies;
        }

        private boolean mayPass(boolean replies) {
            synchronized (modeChanged) {
                while (mode == Mode.FREEZE && !over) {
                    try {
                        modeChanged.wait();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                        return false;
                    }
                }
                losesAnswers |= mode == Mode.DROP_REPLIES;
                return mode != Mode.CUT && !over && !(replies && losesAnswers);
            }
        }
    }
}
