package io.github.reactivelock.cli;

import io.github.reactivelock.LockException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/** What went wrong, in one line: which store, what happened, what to do. */
final class Problems {

    private record Word(String pattern, String instead) {}

    private static final List<Word> WORDS = List.of(
            new Word(" with RedisBackendOptions\\.withPrefix", " with --key-prefix"),
            new Word("\\(connectCluster, in Vert\\.x RedisClientType\\.CLUSTER\\)", "(redis-cluster://)"),
            new Word(", in Vert\\.x RedisClientType\\.SENTINEL", ""),
            new Word(" with R2dbcLockBackend\\.createTables\\(\\)(?:, in Spring Boot with \\S+)?, or", ""),
            new Word(" (given|them) to the ClientBuilder", " $1"),
            new Word("; give it one \\(withToken\\)", ""),
            new Word("which belong into the ClientBuilder; the one given does not", "and the one given does not"),
            // The class of an error, before what it says; a key between quotation marks may look like one.
            new Word("(?<![\\w.'])(?:[a-z][a-z0-9_]*\\.)+[A-Z][\\w$]*(?:: )?", ""),
            new Word("\\b[A-Z]\\w*(?:Exception|Error): ", ""));

    private Problems() {}

    static int ofStore(Exception problem, CommandLine command, ParseResult arguments) {
        ReactiveLock program = program(command);
        boolean isOfStore = problem instanceof LockException || problem instanceof StoreSession.Silence;
        String text = isOfStore
                ? program.store.names(program.environment) + ": " + inOwnWords(problem.getMessage()) + login(problem)
                : "a defect of this program: " + problem + (program.verbose ? "" : "; with -v it says where");
        say(command, text);
        if (program.verbose) {
            problem.printStackTrace(command.getErr());
        }
        return (isOfStore ? ExitCode.STORE : ExitCode.DEFECT).code;
    }

    static int ofArguments(ParameterException problem, String[] arguments) {
        CommandLine command = problem.getCommandLine();
        String text = String.valueOf(problem.getMessage())
                .replaceAll("' is not an? (?:int|long)\\b", "' is not a whole number");
        say(command, text + "; see " + command.getCommandSpec().qualifiedName() + " --help");
        return ExitCode.USAGE.code;
    }

    /** A store's message speaks to a programmer, of classes and methods that this program's user does not have. */
    static String inOwnWords(@Nullable String message) {
        String said = String.valueOf(message);
        for (Word word : WORDS) {
            said = said.replaceAll(word.pattern, word.instead);
        }
        return said;
    }

    private static String login(Exception problem) {
        String said = String.valueOf(problem.getMessage());
        String password = Environment.PASSWORD + " and --ask-password]";
        if (said.matches("(?is).*Consul at .*(this|the) token.*")) {
            return " [this program takes a token from " + password;
        }
        return said.matches("(?is).*(password|user).*") ? " [this program takes them from --user, " + password : "";
    }

    /**
     * Without what stands before an at sign in a URL: an argument that was not understood is repeated in the message.
     */
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
