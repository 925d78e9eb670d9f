package io.github.reactivelock.examples.webflux;

import io.github.reactivelock.examples.Launcher;
import io.github.reactivelock.examples.Print;
import io.github.reactivelock.examples.RedisOption;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.Banner;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The command: opens the shop, and with {@code --demo} sends customers of its own and closes it again. */
@Command(
        name = "examples/run webflux",
        description =
                "A Spring WebFlux service whose handlers take a lock for each item they sell, and a page that shows"
                        + " the locks live.",
        usageHelpAutoWidth = true)
public final class WebFlux implements Callable<Integer> {

    private static final int USUAL_PORT = 8080;

    @Option(
            names = "--port",
            paramLabel = "N",
            description = "where the page is, 0 for any free port; if not given, 8080 or, where that is taken, any")
    private @Nullable Integer port;

    @Option(
            names = "--packing",
            paramLabel = "MS",
            description = "how long an order keeps its item; 1500, or 100 in the demo")
    private @Nullable Integer packing;

    @Option(names = "--demo", description = "serve a scripted rush, print what happened, and end")
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
        return redis.use(uri -> serve(new Settings(uri, Duration.ofMillis(millis))))
                .blockOptional()
                .orElse(0);
    }

    private Mono<Integer> serve(Settings settings) {
        return Mono.usingWhen(
                Mono.fromCallable(() -> open(settings)).subscribeOn(Schedulers.boundedElastic()),
                shop -> {
                    String address = "http://127.0.0.1:" + shop.getEnvironment().getProperty("local.server.port");
                    Print.line("The page: %s", address);
                    return demo ? new Rush(address).run() : untilInterrupted();
                },
                shop -> Mono.<Void>fromRunnable(shop::close).subscribeOn(Schedulers.boundedElastic()));
    }

    private static Mono<Integer> untilInterrupted() {
        Print.line("Ctrl-C ends it.");
        return Mono.never();
    }

    private ConfigurableApplicationContext open(Settings settings) throws IOException {
        SpringApplication application = new SpringApplication(Shop.class);
        application.setBannerMode(Banner.Mode.OFF);
        application.setDefaultProperties(Map.of(
                "server.address", "127.0.0.1",
                "server.port", port == null ? usualPort() : port,
                // An open page would delay the end of the service.
                "server.shutdown", "immediate"));
        application.addInitializers(
                context -> ((GenericApplicationContext) context).registerBean(Settings.class, () -> settings));
        return application.run();
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
