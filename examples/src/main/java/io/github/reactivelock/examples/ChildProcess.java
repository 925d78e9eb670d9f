package io.github.reactivelock.examples;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** A process of an example's application, with its own JVM, as its parent sees it. */
public final class ChildProcess {

    private static final Duration CLOSE_LIMIT = Duration.ofSeconds(8);

    private static final String REPLY = "> ";

    private final String name;
    private final Process process;

    private ChildProcess(String name, Process process) {
        this.name = name;
        this.process = process;
        // On interruption; a child also ends by itself when this process does, see parentExit.
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
    }

    /**
     * Starts a process with this one's class path. Its errors appear among ours.
     *
     * @param name what to call it
     * @param output where its output goes
     * @param main its main class
     * @param args for its main method
     * @return the process
     * @throws IOException if the system cannot start it
     */
    public static ChildProcess start(String name, Redirect output, Class<?> main, String... args) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                main.getName()));
        command.addAll(List.of(args));
        Process process = new ProcessBuilder(command)
                .redirectOutput(output)
                .redirectError(Redirect.INHERIT)
                .start();
        return new ChildProcess(name, process);
    }

    /**
     * In a child, waits for the end of its parent.
     *
     * @return emits when the parent ends; cancelling ends the waiting only
     */
    public static Mono<ProcessHandle> parentExit() {
        return Mono.justOrEmpty(ProcessHandle.current().parent())
                .flatMap(parent -> Mono.fromFuture(parent.onExit(), true));
    }

    /**
     * Its name.
     *
     * @return the name given at its start
     */
    public String name() {
        return name;
    }

    /**
     * Whether it runs.
     *
     * @return false once it has ended
     */
    public boolean isAlive() {
        return process.isAlive();
    }

    /** SIGKILL: it cannot release anything. */
    public void kill() {
        process.destroyForcibly();
    }

    /**
     * SIGSTOP: it stands still, as in a long pause of its garbage collector.
     *
     * @return cold; completes when the signal is sent
     */
    public Mono<Void> pause() {
        return signal("-STOP");
    }

    /**
     * SIGCONT: it continues where it was stopped.
     *
     * @return cold; completes when the signal is sent
     */
    public Mono<Void> resume() {
        return signal("-CONT");
    }

    private Mono<Void> signal(String signal) {
        return Mono.fromCallable(() -> new ProcessBuilder("kill", signal, Long.toString(process.pid()))
                        .inheritIO()
                        .start())
                .subscribeOn(Schedulers.boundedElastic())
                .flatMap(kill -> Mono.fromFuture(kill.onExit()))
                .then();
    }

    /**
     * Writes a line to its standard input.
     *
     * @param line what to tell it
     * @return cold; completes when the line is on its way
     */
    public Mono<Void> tell(String line) {
        return Mono.fromCallable(() -> {
                    process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
                    process.getOutputStream().flush();
                    return line;
                })
                .subscribeOn(Schedulers.boundedElastic())
                .then();
    }

    /**
     * The next {@link #reply} among its output, which must be a {@link Redirect#PIPE}; one question at a time.
     *
     * @return cold; the line, or {@link IllegalStateException} if it ended before
     */
    public Mono<String> answer() {
        return Mono.fromCallable(process.inputReader(StandardCharsets.UTF_8)::readLine)
                .filter(line -> line.startsWith(REPLY))
                .repeatWhenEmpty(again -> again.takeWhile(count -> process.isAlive()))
                .map(line -> line.substring(REPLY.length()))
                .subscribeOn(Schedulers.boundedElastic())
                .switchIfEmpty(Mono.error(
                        () -> new IllegalStateException(name + " ended before it answered; see its output above")));
    }

    /**
     * In a child, answers its parent; a log may print lines of its own in between.
     *
     * @param text one line
     */
    public static void reply(String text) {
        System.out.println(REPLY + text);
    }

    /** SIGTERM: it runs its shutdown hooks. */
    public void terminate() {
        process.destroy();
    }

    /**
     * Waits for its end.
     *
     * @return completes then; cancelling ends the waiting only
     */
    public Mono<Void> exit() {
        return Mono.fromFuture(process.onExit(), true).then();
    }

    /**
     * Tells it to end, waits until it has, and kills it if it does not.
     *
     * @param order how to tell it
     * @return cold; completes when it has ended
     */
    public Mono<Void> end(Mono<Void> order) {
        return order.then(exit()).timeout(CLOSE_LIMIT).onErrorResume(late -> {
            kill();
            return exit();
        });
    }
}
