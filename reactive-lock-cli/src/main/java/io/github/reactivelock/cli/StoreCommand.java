package io.github.reactivelock.cli;

import io.github.reactivelock.LockClient;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;
import reactor.core.publisher.Mono;

/** A command that asks a store. */
abstract class StoreCommand implements Callable<Integer> {

    @ParentCommand
    private @Nullable ReactiveLock program;

    @Spec
    private @Nullable CommandSpec spec;

    /** Assembles the question. It may print; what it emits is how the program ends. */
    abstract Mono<ExitCode> question(LockClient client);

    @Override
    public final Integer call() {
        StoreOptions store = program().store;
        Environment environment = program().environment;
        if (assembled(store::showsPassword)) {
            note("warning: others on this machine can read the password in the URL; put it into " + Environment.PASSWORD
                    + ", or the whole URL into " + Environment.STORE);
        }
        try (StoreSession session = assembled(() -> new StoreSession(store.backend(environment), store.timeout))) {
            Mono<ExitCode> question = assembled(() -> question(session.client));
            return session.ask(question, environment).code;
        }
    }

    /** What cannot be right is refused before anything is connected. */
    private <T> T assembled(Supplier<T> assembly) {
        try {
            return assembly.get();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec().commandLine(), Objects.requireNonNull(e.getMessage()), e);
        }
    }

    final boolean isJson() {
        return program().json;
    }

    /** Prints what was asked for. */
    final void print(List<String> lines, Json json) {
        if (isJson()) {
            print(json.toString());
        } else {
            lines.forEach(this::print);
        }
    }

    final void print(String line) {
        spec().commandLine().getOut().println(line);
        spec().commandLine().getOut().flush();
    }

    /** Whether the reader of what is printed has gone. */
    final boolean isPipeClosed() {
        return spec().commandLine().getOut().checkError();
    }

    /** Tells people something beside what was asked for. */
    final void note(String text) {
        spec().commandLine().getErr().println(ReactiveLock.NAME + ": " + text);
        spec().commandLine().getErr().flush();
    }

    private ReactiveLock program() {
        return Objects.requireNonNull(program);
    }

    private CommandSpec spec() {
        return Objects.requireNonNull(spec);
    }
}
