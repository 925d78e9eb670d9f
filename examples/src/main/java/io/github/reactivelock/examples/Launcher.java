package io.github.reactivelock.examples;

import java.util.Objects;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** Shared by the main methods of the examples. */
public final class Launcher {

    private Launcher() {}

    /**
     * Runs a command and ends the JVM with the command's exit code, 1 if it fails, 2 if the arguments are wrong.
     *
     * @param command a picocli command
     * @param args its arguments
     */
    public static void run(Callable<Integer> command, String[] args) {
        CommandLine line = new CommandLine(command);
        line.getCommandSpec()
                .addOption(OptionSpec.builder("-h", "--help")
                        .usageHelp(true)
                        .description("show this and end")
                        .build());
        line.setParameterExceptionHandler((wrong, given) -> {
            System.err.println(wrong.getMessage());
            System.err.println("The options: " + line.getCommandName() + " --help");
            return 2;
        });
        line.setExecutionExceptionHandler((failure, failed, given) -> {
            System.err.println(line.getCommandName() + ": " + explain(failure));
            return 1;
        });
        System.exit(line.execute(args));
    }

    /**
     * A failure in one line.
     *
     * @param failure what went wrong
     * @return its message, and its cause's message if that says more
     */
    public static String explain(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        String message = Objects.requireNonNullElse(failure.getMessage(), failure.toString());
        String cause = Objects.requireNonNullElse(root.getMessage(), root.toString());
        return message.contains(cause) ? message : message + " (" + cause + ")";
    }
}
