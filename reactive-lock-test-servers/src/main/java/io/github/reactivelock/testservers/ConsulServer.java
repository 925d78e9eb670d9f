package io.github.reactivelock.testservers;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A real Consul server on free ports of 127.0.0.1, for tests, alone or as a member of a cluster: in Docker if an engine
 * is there, else {@code consul} from the PATH, else the one of Debian 11 beside the system. If none can run, starting
 * it throws, so that no test is skipped unnoticed. Its elections are fast. It ends with this JVM at the latest. The
 * methods block; they are for test threads.
 */
public final class ConsulServer extends TestServer {

    /** What a server that asks for tokens takes as its first one. */
    public static final String ROOT_TOKEN = "6b1c7f0e-3d0a-4f6e-9a55-0f3f6d1f5c11";

    private static final int HTTP_TIMEOUT = 10_000;

    private final String name;
    private final int port = Loopback.freePort();
    private final int serverPort = Loopback.freePort();
    private final int serfPort = Loopback.freePort();
    private final int members;
    private final List<String> config;
    /** What makes a disk of the folder of its data, for this process and its children alone; or nothing. */
    private final List<String> disk;

    private List<ConsulServer> cluster = List.of();

    private ConsulServer(String name, int members, List<String> config) {
        this(name, members, config, false);
    }

    private ConsulServer(String name, int members, List<String> config, boolean onSmallDisk) {
        super(Scratch.directory("consul"));
        this.name = name;
        this.members = members;
        this.config = config;
        this.disk = onSmallDisk
                ? List.of(
                        "unshare",
                        "-rm",
                        "sh",
                        "-c",
                        "echo $$ > pid && mkdir $0 && mount -t tmpfs -o size=3m tmpfs $0 && exec \"$@\"",
                        directory + "/data")
                : List.of();
    }

    /**
     * Whether a server can have a disk of its own: not in a container, nor where a process may not have mounts of its
     * own.
     *
     * @return whether {@link #startOnSmallDisk()} starts one
     */
    public static boolean canHaveSmallDisk() {
        try {
            return ConsulProgram.found() != ConsulProgram.DOCKER
                    && new ProcessBuilder("unshare", "-rm", "true").start().waitFor() == 0;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /**
     * Starts a server that is a cluster of its own, with three megabytes for its data. It cannot be started again.
     *
     * @return a server that takes sessions
     */
    public static ConsulServer startOnSmallDisk() {
        return started(List.of(new ConsulServer("alone", 1, List.of(), true))).get(0);
    }

    /** Leaves no room on its small disk. */
    public void fillDisk() {
        byte[] page = new byte[4096];
        try (OutputStream file = Files.newOutputStream(filler())) {
            while (true) {
                file.write(page);
            }
        } catch (IOException full) {
            // As it should be.
        }
    }

    /** Leaves room again. */
    public void makeRoom() {
        try {
            Files.delete(filler());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Its disk is seen through its process only. */
    private Path filler() throws IOException {
        String process = Files.readString(directory.resolve("pid")).strip();
        return Path.of("/proc", process, "root" + directory, "data", "filler");
    }

    /**
     * Starts a server that is a cluster of its own.
     *
     * @param config further options as on its command line
     * @return a server that takes sessions
     */
    public static ConsulServer start(String... config) {
        return started(List.of(new ConsulServer("alone", 1, List.of(config)))).get(0);
    }

    /**
     * Starts the members of one cluster.
     *
     * @param members how many
     * @return members that have a leader and take sessions
     */
    public static List<ConsulServer> cluster(int members) {
        return started(IntStream.range(0, members)
                .mapToObj(i -> new ConsulServer("member" + i, members, List.of()))
                .toList());
    }

    private static List<ConsulServer> started(List<ConsulServer> members) {
        members.forEach(member -> {
            member.cluster = members;
            member.run();
        });
        members.forEach(ConsulServer::awaitReady);
        return members;
    }

    /**
     * Where clients connect, always at 127.0.0.1; the same after a restart.
     *
     * @return the port
     */
    public int port() {
        ServerVersions.met(ConsulProgram.found().version());
        return port;
    }

    /**
     * Its address for clients.
     *
     * @return an {@code http://} URI
     */
    public String uri() {
        return "http://127.0.0.1:" + port();
    }

    /**
     * Whether it believes that it is the leader of its cluster.
     *
     * @return false also if it does not answer
     */
    public boolean isLeader() {
        try {
            return ask("GET", "status/leader", "").contains(":" + serverPort + "\"");
        } catch (UncheckedIOException e) {
            return false;
        }
    }

    /**
     * Asks the server something, with the first token.
     *
     * @param method of HTTP
     * @param path below {@code /v1/}
     * @param body may be empty
     * @return the body of the answer
     * @throws UncheckedIOException if the answer is not one of success
     */
    @CanIgnoreReturnValue
    public String ask(String method, String path, String body) {
        try {
            HttpURLConnection connection = (HttpURLConnection) URI.create("http://127.0.0.1:" + port + "/v1/" + path)
                    .toURL()
                    .openConnection();
            connection.setConnectTimeout(HTTP_TIMEOUT);
            connection.setReadTimeout(HTTP_TIMEOUT);
            connection.setRequestMethod(method);
            connection.setRequestProperty("X-Consul-Token", ROOT_TOKEN);
            if (!body.isEmpty()) {
                connection.setDoOutput(true);
                connection.getOutputStream().write(body.getBytes(StandardCharsets.UTF_8));
            }
            try (InputStream answer = connection.getInputStream()) {
                return new String(answer.readAllBytes(), StandardCharsets.UTF_8);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Consul did not answer " + method + " /v1/" + path, e);
        }
    }

    /** Kills the server if it runs, and starts it again on the same ports with its data. */
    public void restart() {
        restart(List.of(this));
    }

    /**
     * Kills those that run, and then starts all of them again on the same ports with their data.
     *
     * @param members of one cluster, which has no leader meanwhile if they are most of it
     */
    public static void restart(List<ConsulServer> members) {
        members.stream().filter(ConsulServer::isRunning).forEach(ConsulServer::kill);
        members.forEach(ConsulServer::run);
        members.forEach(ConsulServer::awaitReady);
    }

    /**
     * Lets members of a cluster go on that were paused, and waits some seconds until it has a leader again.
     *
     * @param members those that were paused
     */
    public static void resume(List<ConsulServer> members) {
        members.forEach(ConsulServer::resume);
        members.get(0).cluster.forEach(ConsulServer::awaitReady);
    }

    /** Kills the server if it runs and starts it on the same ports, empty. Not for members of a larger cluster. */
    public void restartEmpty() {
        killIfRunning();
        Scratch.empty(directory.resolve("data"));
        restart();
    }

    private void run() {
        List<String> options = new ArrayList<>(List.of("-server", "-node=" + name, "-disable-host-node-id"));
        options.addAll(List.of("-data-dir=" + directory + "/data", "-bootstrap-expect=" + members));
        options.addAll(List.of("-bind=127.0.0.1", "-client=127.0.0.1", "-http-port=" + port));
        options.addAll(List.of("-server-port=" + serverPort, "-serf-lan-port=" + serfPort, "-serf-wan-port=-1"));
        options.addAll(List.of("-dns-port=-1", "-grpc-port=-1", "-log-level=warn", "-retry-interval=1s"));
        options.add("-hcl=performance { raft_multiplier = 1 } limits { http_max_conns_per_client = 2000 }"
                + " leave_on_terminate = false disable_update_check = true");
        cluster.stream()
                .filter(member -> member != this)
                .forEach(member -> options.add("-retry-join=127.0.0.1:" + member.serfPort));
        options.addAll(config);
        running = ConsulProgram.found().start(directory, port, disk, options);
    }

    private void awaitReady() {
        awaitReady(running, this::takesSessions, "Consul ended or took no session");
    }

    /** A session needs a leader, and this server among the nodes that the leader knows. */
    private boolean takesSessions() {
        try {
            String made = ask("PUT", "session/create", "{\"TTL\":\"10s\",\"Checks\":[]}");
            String id = made.substring(made.indexOf(':') + 2, made.lastIndexOf('"'));
            return ask("PUT", "session/destroy/" + id, "").contains("true");
        } catch (UncheckedIOException e) {
            return false;
        }
    }
}
