package io.github.reactivelock.cli;

import org.jspecify.annotations.Nullable;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Prints a script. */
@Command(
        name = "completion",
        header = "Prints a script that completes commands and options, for bash and zsh.",
        description = "source <(reactive-lock completion)")
final class CompletionCommand implements Runnable {

    @Spec
    private @Nullable CommandSpec spec;

    /** For picocli, which fills it in. */
    CompletionCommand() {}

    @Override
    public void run() {
        if (spec != null) {
            spec.commandLine()
                    .getOut()
                    .print(AutoComplete.bash(ReactiveLock.NAME, spec.root().commandLine()));
            spec.commandLine().getOut().flush();
        }
    }
}
