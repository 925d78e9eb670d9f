package io.github.reactivelock.testservers;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;

/**
 * A proxy between a client and a server of 127.0.0.1 that can break the network between them. It has one mode at a
 * time, {@linkplain #mend() flowing} at first, which applies to open connections and to new ones. Safe for use from any
 * thread; its own threads are daemons.
 */
public final class TcpProxy implements AutoCloseable {

    private static final int NOTED_BYTES = 16_384;

    private enum Mode {
        FLOW,
        DROP_REPLIES,
        FREEZE,
        /** No new connections. */
        FULL,
        CUT
    }

    private final ServerSocket listening;
    private final Set<Link> links = ConcurrentHashMap.newKeySet();
    private final Object modeChanged = new Object();
    private final AtomicLong roundTrips = new AtomicLong();
    private volatile int target;
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
     * How many connections clients have to it now, those that were forgotten among them.
     *
     * @return the number of connections that no client has closed
     */
    public int connections() {
        return (int) links.stream().filter(link -> !link.client.isClosed()).count();
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

    /**
     * Resets the connections on which the client has said a word, such as those for messages, and every new one at
     * once. The others go on, until another mode is set.
     *
     * @param word in the first {@value #NOTED_BYTES} bytes that the client sent, in letters of either case
     * @return how many connections it reset
     */
    @CanIgnoreReturnValue
    public int cut(String word) {
        change(Mode.FULL);
        List<Link> chosen = links.stream().filter(link -> link.hasSaid(word)).toList();
        chosen.forEach(Link::reset);
        return chosen.size();
    }

    /**
     * Leads new connections to another server. Open ones stay where they are.
     *
     * @param port where that server listens at 127.0.0.1
     */
    public void leadTo(int port) {
        target = port;
    }

    /** Resets all connections; lets new ones through. */
    public void reset() {
        links.forEach(Link::reset);
    }

    /**
     * Lets all connections die without a word, as a NAT or a balancer does that forgets them: nothing is closed, and
     * what either side sends on them is lost, for good. New ones work. The end of one side stays unknown to the other.
     *
     * @return how many connections it forgot
     */
    @CanIgnoreReturnValue
    public int forget() {
        return forget(link -> true);
    }

    /**
     * Lets some connections die, as {@link #forget()}: those on which the client has said a word, such as those for
     * messages.
     *
     * @param word in the first {@value #NOTED_BYTES} bytes that the client sent, in letters of either case
     * @return how many connections it forgot
     */
    @CanIgnoreReturnValue
    public int forget(String word) {
        return forget(link -> link.hasSaid(word));
    }

    /** Ends the server's side of all forgotten connections, of which the clients hear nothing. */
    public void endForgottenAtTheServer() {
        links.stream().filter(link -> link.forgotten).forEach(link -> closeQuietly(link.server));
    }

    private int forget(Predicate<Link> which) {
        List<Link> chosen =
                links.stream().filter(link -> !link.forgotten).filter(which).toList();
        chosen.forEach(link -> link.forgotten = true);
        return chosen.size();
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
        volatile boolean forgotten;
        private final ByteArrayOutputStream noted = new ByteArrayOutputStream();

        Link(Socket client) {
            this.client = client;
        }

        void open() throws IOException {
            if (mode == Mode.CUT || mode == Mode.FULL) {
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

        /** The end of a forgotten connection is known only to the side that ended it. */
        private void endOfOneSide(Socket ended, Socket other) {
            closeQuietly(ended);
            if (!forgotten || other.isClosed()) {
                end();
            }
        }

        boolean hasSaid(String word) {
            return noted.toString(StandardCharsets.ISO_8859_1)
                    .toUpperCase(Locale.ROOT)
                    .contains(word.toUpperCase(Locale.ROOT));
        }

        private void note(byte[] bytes, int read) {
            noted.write(bytes, 0, Math.min(read, NOTED_BYTES - noted.size()));
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
                    if (!replies) {
                        note(buffer, read);
                    }
                    if (mayPass(replies)) {
                        to.getOutputStream().write(buffer, 0, read);
                    }
                }
            } catch (IOException e) {
                // The connection ended, here or there.
            }
            endOfOneSide(from, to);
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
                return mode != Mode.CUT && !over && !forgotten && !(replies && losesAnswers);
            }
        }
    }
}
