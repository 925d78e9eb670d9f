package io.github.reactivelock.testservers;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.file.Path;
import java.util.List;

/** What MariaDB and MySQL have in common as servers of a test. */
abstract class MySqlProtocolServer extends TestServer {

    private static final int GREETING = 10;

    final int port = Loopback.freePort();
    final List<String> config;

    MySqlProtocolServer(Path directory, List<String> config) {
        super(directory);
        this.config = config;
    }

    /** A test meets the server. */
    abstract void met();

    abstract Running run();

    /**
     * Where it listens, always at 127.0.0.1; the same after a restart.
     *
     * @return the port
     */
    public final int port() {
        met();
        return port;
    }

    /**
     * Its address for R2DBC.
     *
     * @param driver the driver's name: {@code mariadb} or {@code mysql}
     * @return a URL with user and the database {@code mysql}, which needs no password
     */
    public final String url(String driver) {
        return "r2dbc:" + driver + "://root@127.0.0.1:" + port() + "/mysql";
    }

    /** Kills the server if it runs, and starts it again on the same port with its data. */
    public final void restart() {
        killIfRunning();
        running = run();
    }

    /** The first packet is a greeting of protocol 10, or an error; MySQL says the same when it is ready. */
    final boolean greets() {
        try (Socket socket = new Socket(Loopback.address(), port)) {
            socket.setSoTimeout(5_000);
            InputStream in = socket.getInputStream();
            return in.readNBytes(4).length == 4 && in.read() == GREETING;
        } catch (IOException notYet) {
            return false;
        }
    }
}
