package io.github.reactivelock.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** The program as picocli sees it: the options of all its commands, and the commands. */
@Command(
        name = ReactiveLock.NAME,
        scope = ScopeType.INHERIT,
        description = "Looks at the locks in a store, waits for them and ends them.",
        mixinStandardHelpOptions = true,
        versionProvider = ReactiveLock.Version.class,
        usageHelpWidth = 110,
        exitCodeListHeading = "%nExit codes:%n",
        subcommands = {
            ListCommand.class,
            ShowCommand.class,
            WatchCommand.class,
            WaitCommand.class,
            ReleaseCommand.class,
            CompletionCommand.class
        })
final class ReactiveLock {

    static final String NAME = "reactive-lock";

    final Environment environment;

    @Mixin
    StoreOptions store = new StoreOptions();

    @Option(
            names = "--json",
            scope = ScopeType.INHERIT,
            description = "prints JSON, for programs, instead of text for people")
    boolean json;

    @Option(
            names = {"-v", "--verbose"},
            scope = ScopeType.INHERIT,
            description = "shows what the drivers log, and where an error came from")
    boolean verbose;

    private ReactiveLock(Environment environment) {
        this.environment = environment;
    }

    /** The whole program, ready to run. */
    static CommandLine in(Environment environment) {
        CommandLine program = new CommandLine(new ReactiveLock(environment))
                .setExpandAtFiles(false) // a key may begin with an at sign
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setOverwrittenOptionsAllowed(true) // the last one counts, as behind an alias
                .setExecutionExceptionHandler(Problems::ofStore)
                .setParameterExceptionHandler(Problems::ofArguments);
        everyCommand(program)
                .forEach(each -> each.getCommandSpec().usageMessage().exitCodeList(ExitCode.all()));
        program.getCommandSpec().usageMessage().footer(stores());
        return program;
    }

    private static Stream<CommandLine> everyCommand(CommandLine program) {
        return Stream.concat(Stream.of(program), program.getSubcommands().values().stream());
    }

    private static String[] stores() {
        Table table = new Table();
        for (Scheme scheme : Scheme.values()) {
            table.row("  " + scheme.example, scheme.store);
        }
        List<String> lines = new ArrayList<>(List.of("", "Stores:"));
        lines.addAll(table.lines());
        lines.add("rediss:// (rediss-sentinel://, …) and https:// are for TLS. A user stands before the host, as in");
        lines.add("redis://user@host.");
        return lines.toArray(String[]::new);
    }

    /** That of the jar, which knows it by its manifest. */
    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            String version = ReactiveLock.class.getPackage().getImplementationVersion();
            return new String[] {NAME + " " + (version == null ? "(not from its jar)" : version)};
        }
    }
}
