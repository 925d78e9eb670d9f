package io.github.reactivelock.examples;

import io.lettuce.core.RedisURI;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import reactor.core.publisher.Mono;

/** The option that all examples on Redis share. */
public final class RedisOption {

    @Option(
            names = "--redis",
            paramLabel = "URI",
            description = "your own Redis; if not given, the example starts the bundled one")
    private @Nullable String uri;

    @Spec(Spec.Target.MIXEE)
    private @Nullable CommandSpec command;

    /** For picocli, which fills it in. */
    public RedisOption() {}

    /**
     * Runs a program against the user's Redis, or against one that is started for it and stopped afterwards.
     *
     * @param program makes the program, given the server's URI
     * @param <T> the program's result
     * @return cold; the program's outcome, or {@link IllegalStateException} with a remedy if no Redis starts
     */
    public <T> Mono<T> use(Function<String, Mono<T>> program) {
        String given = uri;
        if (given == null) {
            return Mono.usingWhen(
                    BundledRedis.start(), redis -> program.apply("redis://" + redis.address()), LocalServer::stop);
        }
        try {
            Objects.requireNonNull(RedisURI.create(given));
        } catch (IllegalArgumentException e) {
            // The message does not repeat the option: it may contain a password.
            throw new ParameterException(
                    Objects.requireNonNull(command).commandLine(),
                    "--redis must be of the form redis://[user:password@]host[:port][/database]");
        }
        return program.apply(given);
    }
}
