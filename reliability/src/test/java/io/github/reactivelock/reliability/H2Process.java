package io.github.reactivelock.reliability;

import org.h2.tools.Server;

/**
 * An H2 server that is a process of its own, so that it can be stopped and killed. It begins to serve when it is told
 * something, so that a slow start of a JVM is no part of a restart, and it ends when standard input does.
 */
public final class H2Process {

    private H2Process() {}

    /**
     * Runs it.
     *
     * @param args the directory with its data, and its port
     * @throws Exception if it does not start
     */
    public static void main(String... args) throws Exception {
        System.setProperty("h2.bindAddress", "127.0.0.1");
        Server server = Server.createTcpServer("-tcpPort", args[1], "-baseDir", args[0], "-ifNotExists");
        System.out.println("is ready");
        if (System.in.read() < 0) {
            return;
        }
        Server serving = server.start();
        System.out.println("serves at " + serving.getPort());
        while (System.in.read() >= 0) {
            // Nobody has anything more to say to it.
        }
        server.stop();
    }
}
