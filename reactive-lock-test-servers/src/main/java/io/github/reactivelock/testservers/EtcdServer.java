package io.github.reactivelock.testservers;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A real etcd on free ports of 127.0.0.1, for tests, alone or as a member of a cluster: in Docker if an engine is
 * there, else {@code etcd} from the PATH. If neither can run, starting it throws, so that no test is skipped unnoticed.
 * Its elections are fast and it does not wait for the disk. It ends with this JVM at the latest. The methods block;
 * they are for test threads.
 */
public final class EtcdServer extends TestServer {

    private static final int HTTP_TIMEOUT = 10_000;

    private final String name;
    private final int port = Loopback.freePort();
    private final int peerPort = Loopback.freePort();
    private final int metricsPort = Loopback.freePort();
    private final List<String> config;
    private String cluster = "";

    private EtcdServer(String name, List<String> config) {
        super(Scratch.directory("etcd"));
        this.name = name;
        this.config = config;
    }

    /**
     * Starts a server that is a cluster of its own.
     *
     * @param config further options as on its command line; relative file names count from {@link #directory()}
     * @return a server that answers
     */
    public static EtcdServer start(String... config) {
        return started(List.of(new EtcdServer("alone", List.of(config)))).get(0);
    }

    /**
     * Starts the members of one cluster.
     *
     * @param members how many
     * @return members that have a leader
     */
    public static List<EtcdServer> cluster(int members) {
        return started(IntStream.range(0, members)
                .mapToObj(i -> new EtcdServer("member" + i, List.of()))
                .toList());
    }

    private static List<EtcdServer> started(List<EtcdServer> members) {
        String cluster = members.stream()
                .map(member -> member.name + "=" + member.peerUri())
                .collect(Collectors.joining(","));
        members.forEach(member -> {
            member.cluster = cluster;
            member.run();
        });
        members.forEach(EtcdServer::awaitReady);
        return members;
    }

    /**
     * Where clients connect, always at 127.0.0.1; the same after a restart.
     *
     * @return the port
     */
    public int port() {
        ServerVersions.met(EtcdProgram.found().version());
        return port;
    }

    /**
     * Its address for clients.
     *
     * @return an {@code http://} URI, or {@code https://} if it was configured with a certificate
     */
    public String uri() {
        return (config.contains("--cert-file") ? "https://127.0.0.1:" : "http://127.0.0.1:") + port();
    }

    /**
     * Whether it is the leader of its cluster.
     *
     * @return false also if it does not answer
     */
    public boolean isLeader() {
        try {
            return metric("etcd_server_is_leader") == 1;
        } catch (UncheckedIOException e) {
            return false;
        }
    }

    /**
     * The current value of one of its metrics.
     *
     * @param beginning the metric's name, or its name and labels as far as the first closing brace
     * @return the sum over all metrics whose line begins that way
     */
    public double metric(String beginning) {
        return get("metrics")
                .lines()
                .filter(line -> line.startsWith(beginning))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }

    /** Ends the server if it runs, and starts it again on the same port with its data. */
    public void restart() {
        if (running.isAlive()) {
            running.stop();
        }
        run();
        awaitReady();
    }

    /** Kills the server if it runs and starts it again on the same port, empty. Not for members of a larger cluster. */
    public void restartEmpty() {
        killIfRunning();
        Scratch.empty(directory.resolve("data"));
        restart();
    }

    private String peerUri() {
        return "http://127.0.0.1:" + peerPort;
    }

    private void run() {
        List<String> options = new ArrayList<>(List.of("--name", name, "--data-dir", directory + "/data"));
        options.addAll(List.of("--listen-client-urls", uri(), "--advertise-client-urls", uri()));
        options.addAll(List.of("--listen-peer-urls", peerUri(), "--initial-advertise-peer-urls", peerUri()));
        options.addAll(List.of("--initial-cluster", cluster, "--initial-cluster-token", cluster));
        options.addAll(List.of("--listen-metrics-urls", "http://127.0.0.1:" + metricsPort));
        options.addAll(List.of("--heartbeat-interval", "50", "--election-timeout", "500", "--unsafe-no-fsync"));
        options.addAll(config);
        running = EtcdProgram.found().start(directory, port, options);
    }

    private void awaitReady() {
        awaitReady(running, this::isHealthy, "etcd ended or had no leader");
    }

    private boolean isHealthy() {
        try {
            return get("health").contains("\"true\"");
        } catch (UncheckedIOException e) {
            return false;
        }
    }

    /** Health and metrics are on a port of their own that asks for no certificate and no user. */
    private String get(String path) {
        try {
            HttpURLConnection connection =
                    (HttpURLConnection) URI.create("http://127.0.0.1:" + metricsPort + "/" + path)
                            .toURL()
                            .openConnection();
            connection.setConnectTimeout(HTTP_TIMEOUT);
            connection.setReadTimeout(HTTP_TIMEOUT);
            try (InputStream body = connection.getInputStream()) {
                return new String(body.readAllBytes(), StandardCharsets.UTF_8);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("etcd did not answer GET /" + path, e);
        }
    }
}
