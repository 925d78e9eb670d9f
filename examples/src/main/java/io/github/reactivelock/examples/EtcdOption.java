package io.github.reactivelock.examples;

import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import reactor.core.publisher.Mono;

/** The option that all examples on etcd share. */
public final class EtcdOption {

    @Option(
            names = "--etcd",
            paramLabel = "URL",
            split = ",",
            description =
                    "the members of your own etcd, with commas between them; if not given, the example starts one")
    private @Nullable List<String> endpoints;

    @Spec(Spec.Target.MIXEE)
    private @Nullable CommandSpec command;

    /** For picocli, which fills it in. */
    public EtcdOption() {}

    /**
     * Runs a program against the user's etcd, or against one that is started for it and stopped afterwards.
     *
     * @param program makes the program, given the endpoints
     * @param <T> the program's result
     * @return cold; the program's outcome, or {@link ParameterException} with a remedy if no etcd starts
     */
    public <T> Mono<T> use(Function<List<String>, Mono<T>> program) {
        List<String> given = endpoints;
        if (given == null) {
            return Mono.usingWhen(
                    start(), etcd -> program.apply(List.of("http://" + etcd.address())), LocalServer::stop);
        }
        if (!given.stream().allMatch(endpoint -> endpoint.matches("https?://[^/@]+/?"))) {
            // The message does not repeat the option: it may contain a password.
            throw wrong("--etcd must be of the form http://host:port[,http://host:port...]");
        }
        return program.apply(given);
    }

    private Mono<LocalServer> start() {
        return LocalServer.start(
                        (directory, port) -> {
                            String clients = "http://127.0.0.1:" + port;
                            String peers = "http://127.0.0.1:" + LocalServer.freePort();
                            return List.of(
                                    "etcd",
                                    "--name=example",
                                    "--data-dir=" + directory.resolve("data"),
                                    "--listen-client-urls=" + clients,
                                    "--advertise-client-urls=" + clients,
                                    "--listen-peer-urls=" + peers,
                                    "--initial-advertise-peer-urls=" + peers,
                                    "--initial-cluster=example=" + peers,
                                    "--heartbeat-interval=50",
                                    "--election-timeout=500",
                                    // The data is deleted at the end, and a busy disk would stop all three processes.
                                    "--unsafe-no-fsync");
                        },
                        "ready to serve client requests")
                .onErrorMap(
                        IOException.class,
                        missing ->
                                wrong("there is no etcd on the PATH. Install it (Debian: apt-get install etcd-server),"
                                        + " or name your own with --etcd http://host:port"));
    }

    private ParameterException wrong(String message) {
        return new ParameterException(Objects.requireNonNull(command).commandLine(), message);
    }
}
