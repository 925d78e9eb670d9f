package io.github.reactivelock.faults;

import java.io.File;
import java.util.Map;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingServer;

/**
 * A ZooKeeper that is a process of its own, so that it can be stopped and killed. It begins to serve when it is told
 * something, so that a slow start of a JVM is no part of a restart, and it ends when standard input does.
 */
public final class ZooKeeperProcess {

    /** Milliseconds; a session lasts two of these at least. */
    private static final int TICK = 500;
    /** Milliseconds; a session lasts 20 ticks at most where nothing else is said. */
    private static final Map<String, Object> LONGEST_SESSION = Map.of("maxSessionTimeout", "60000");

    private ZooKeeperProcess() {}

    /**
     * Runs it.
     *
     * @param args the directory with its data, and its port
     * @throws Exception if it does not start
     */
    public static void main(String... args) throws Exception {
        System.setProperty("zookeeper.forceSync", "no");
        InstanceSpec spec = new InstanceSpec(
                new File(args[0]), Integer.parseInt(args[1]), -1, -1, false, 1, TICK, 0, LONGEST_SESSION);
        // Loads the server's classes.
        new TestingServer().close();
        System.out.println("is ready");
        if (System.in.read() < 0) {
            return;
        }
        try (TestingServer server = new TestingServer(spec, true)) {
            System.out.println("serves at " + server.getPort());
            while (System.in.read() >= 0) {
                // What is said after that means nothing.
            }
        }
    }
}
