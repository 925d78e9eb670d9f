package io.github.reactivelock.examples.webflux;

import io.github.reactivelock.examples.Launcher;
import io.github.reactivelock.examples.Print;
import io.github.reactivelock.examples.RedisOption;
import io.github.reactivelock.examples.webflux.front.Demo;
import io.github.reactivelock.examples.webflux.front.FrontApplication;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The command: opens the shop, and with {@code --demo} sends customers, kills an instance, and closes it again. */
@Command(
        name = "examples/run webflux",
        description =
                "Two instances of a Spring Boot application that sell under a lock for each item, and a page that shows the"
                        + " locks live and kills an instance.",
        usageHelpAutoWidth = true)
public final class WebFlux implements Callable<Integer> {

    private static final int USUAL_PORT = 8080;

    @Option(
            names = "--port",
            paramLabel = "N",
            description = "where the page is, 0 for any free port; if not given, 8080 or, where that is taken, any")
    private @Nullable Integer port;

    @Option(names = "--packing", paramLabel = "MS", description = "how long a sale takes; 1500, or 100 in the demo")
    private @Nullable Integer packing;

    @Option(names = "--demo", description = "serve a scripted rush, kill an instance, print what happened, and end")
    private boolean demo;

    @Mixin
    private final RedisOption redis = new RedisOption();

    @Spec
    private @Nullable CommandSpec spec;

    private WebFlux() {}

    /**
     * Runs the service until it is interrupted, or the demo until it is over, and ends the JVM: 0 if the demo showed
     * what it should, 1 if not or if the service could not start, 2 if the arguments are wrong.
     *
     * @param args the options
     */
    public static void main(String[] args) {
        Launcher.run(new WebFlux(), args);
    }

    @Override
    public Integer call() {
        check("--port", port, 0, 65_535);
        check("--packing", packing, 1, 60_000);
        int millis = Objects.requireNonNullElse(packing, demo ? 100 : 1_500);
        // Only the main thread ever waits.
        return redis.use(uri -> serve(uri, millis)).blockOptional().orElse(0);
    }

    private Mono<Integer> serve(String uri, int millis) {
        return Mono.usingWhen(
                Mono.fromCallable(() -> FrontApplication.open(uri, port == null ? usualPort() : port, millis))
                        .subscribeOn(Schedulers.boundedElastic()),
                front -> {
                    String address =
                            "http://127.0.0.1:" + front.getEnvironment().getProperty("local.server.port");
                    Print.line("The page: %s", address);
                    return demo ? new Demo(address).run() : untilInterrupted();
                },
                FrontApplication::close);
    }

    private static Mono<Integer> untilInterrupted() {
        Print.line("Ctrl-C ends it.");
        return Mono.never();
    }

    private static int usualPort() {
        try (ServerSocket socket = new ServerSocket(USUAL_PORT, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (IOException taken) {
            return 0;
        }
    }

    private void check(String option, @Nullable Integer value, int least, int most) {
        if (value != null && (value < least || value > most)) {
            throw new ParameterException(
                    Objects.requireNonNull(spec).commandLine(),
                    option + " must be " + least + " to " + most + " but is " + value);
        }
    }
}
