package io.github.reactivelock.cli;

import io.github.reactivelock.LockException;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/** What went wrong, in one line: which store, what happened, what to do. */
final class Problems {

    private Problems() {}

    static int ofStore(Exception problem, CommandLine command, ParseResult arguments) {
        ReactiveLock program = program(command);
        boolean isOfStore = problem instanceof LockException || problem instanceof Session.Silence;
        String text = isOfStore
                ? program.store.names(program.surroundings) + ": " + problem.getMessage() + login(problem)
                : "a defect of this program: " + problem + (program.verbose ? "" : "; with -v it says where");
        say(command, text);
        if (program.verbose) {
            problem.printStackTrace(command.getErr());
        }
        return (isOfStore ? ExitCode.STORE : ExitCode.DEFECT).code;
    }

    static int ofArguments(ParameterException problem, String[] arguments) {
        CommandLine command = problem.getCommandLine();
        say(command, problem.getMessage() + "; see " + command.getCommandSpec().qualifiedName() + " --help");
        return ExitCode.USAGE.code;
    }

    /** A store's message speaks to a programmer. */
    private static String login(Exception problem) {
        return String.valueOf(problem.getMessage()).matches("(?is).*(password|user).*")
                ? " [this program takes them from --user, " + Surroundings.PASSWORD + " and --ask-password]"
                : "";
    }

    /** Without what stands before an at sign in a URL: an argument that was not understood is repeated in the message. */
    private static void say(CommandLine command, String text) {
        String line = text.replaceAll("//\\S*@", "//").replaceAll("\\s*[\\r\\n]+\\s*", " ");
        command.getErr().println(ReactiveLock.NAME + ": " + Table.visible(line));
        command.getErr().flush();
    }

    private static ReactiveLock program(CommandLine command) {
        CommandLine top = command;
        while (top.getParent() != null) {
            top = top.getParent();
        }
        return top.getCommand();
    }
}
