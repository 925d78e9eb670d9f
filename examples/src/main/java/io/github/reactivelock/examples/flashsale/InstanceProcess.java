package io.github.reactivelock.examples.flashsale;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import reactor.core.publisher.Mono;

/** An {@link Instance} as the process that started it sees it. */
final class InstanceProcess {

    private static final Duration CLOSE_LIMIT = Duration.ofSeconds(8);

    private final String name;
    private final Process process;

    private InstanceProcess(String name, Process process) {
        this.name = name;
        this.process = process;
        // On interruption; an instance also ends by itself when this process does.
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
    }

    static InstanceProcess start(String uri, Names names, String name) throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Process process = new ProcessBuilder(
                        java,
                        "-Xmx128m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Instance.class.getName(),
                        uri,
                        names.run(),
                        name)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        return new InstanceProcess(name, process);
    }

    String name() {
        return name;
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** SIGKILL: it gets no chance to release anything. */
    void kill() {
        process.destroyForcibly();
    }

    Mono<Void> exit() {
        return Mono.fromFuture(process.onExit(), true).then();
    }

    /** Tells an instance to end, waits until it has, and kills it if it does not. */
    Mono<Void> end(Mono<Void> order) {
        return order.then(exit()).timeout(CLOSE_LIMIT).onErrorResume(late -> {
            kill();
            return exit();
        });
    }
}
