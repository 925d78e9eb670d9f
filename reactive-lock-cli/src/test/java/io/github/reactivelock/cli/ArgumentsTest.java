package io.github.reactivelock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.cli.Program.Ended;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is refused before anything is connected, and what the program says of itself. */
class ArgumentsTest {

    private static final String REDIS = "redis://localhost:1";

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ls                                             | Name it with --store URL or in REACTIVE_LOCK_STORE",
                "show -s redis://localhost:1                    | Missing required parameter: 'KEY'",
                "show a b -s redis://localhost:1                | Unmatched argument at index 4: 'b'",
                "hide a                                         | Unmatched arguments from index 2: 'hide', 'a'",
                "show a --timeout soon -s redis://localhost:1   | option '--timeout': a time looks like 500ms, 10s, 5m or 2h",
                "ls --limit many -s redis://localhost:1         | option '--limit': 'many' is not a whole number",
                "release a --token last -s redis://localhost:1  | option '--token': 'last' is not a whole number",
                "release a --token= -s redis://localhost:1      | option '--token': '' is not a whole number",
                "show a --timeout 1ms -s redis://localhost:1    | --timeout must be at least 100ms",
                "ls --limit 0 -s redis://localhost:1            | --limit must be at least 1 but is 0",
                "ls --sort size -s redis://localhost:1          | Invalid value for option '--sort'",
                "ls --key-prefix a!b -s redis://localhost:1     | prefix must be 1 to 64 letters",
                "ls --key-prefix a -s r2dbc:h2:mem:///x         | --key-prefix is not for SQL",
                "ls --table-prefix a -s redis://localhost:1     | --table-prefix is for SQL only",
                "ls -s ftp://localhost                          | cannot begin with 'ftp:'",
                "ls -s localhost:6379                           | this store's URL cannot be read",
                "ls -s redis://                                 | names no host; one looks like redis://host:6379/0",
                "ls -s redis-sentinel://localhost:1             | ends with the primary's name",
                "ls -s http://localhost:1/path                  | has nothing behind the hosts",
                "ls -s zookeeper://user@localhost:1             | there is a user and no password",
                "ls -s r2dbc:oracle://localhost:1/x             | no driver for r2dbc:oracle",
                "ls -s redis://a:1 -s redis://b:1               | an odd number of different nodes",
                "ls -s redis://a:1 -s http://b:1 -s http://c:1  | members are all redis:// or rediss://",
            })
    void aWrongCommandLineIsToldInOneLine(String line, String message) {
        Ended ended = Program.run(line.strip().split(" +"));

        assertThat(ended.err()).startsWith("reactive-lock: ").contains(message).contains("; see reactive-lock");
        assertThat(ended.err().lines()).hasSize(1);
        assertThat(ended.out()).isEmpty();
        assertThat(ended.code()).isEqualTo(2);
    }

    @Test
    void anEmptyKeyIsRefused() {
        assertThat(Program.run("show", "", "-s", REDIS).err()).contains("key");
        assertThat(Program.run("show", "", "-s", REDIS).code()).isEqualTo(2);
    }

    @Test
    void noPasswordIsRepeatedWhateverIsWrong() {
        for (String url : List.of(
                "redis://:marker-8f3a@host:1?x y",
                "redis:/:marker-8f3a@host",
                "redis://u:marker%zz-8f3a@host",
                "ftp://u:marker-8f3a@host",
                "r2dbc:nothing://u:marker-8f3a@host/x",
                "http://u:marker-8f3a@host:1/x")) {
            assertThat(Program.run("ls", "-s", url).err()).as(url).doesNotContain("marker");
            assertThat(Program.run("ls", url, "more", "-s", REDIS).err())
                    .as(url)
                    .doesNotContain("marker");
            assertThat(Program.run(Map.of(Environment.STORE, url), "", "ls").err())
                    .as(url)
                    .doesNotContain("marker");
        }
    }

    @Test
    void helpHasEveryCommandExitCodeAndStore() {
        Ended help = Program.run("--help");

        assertThat(help.code()).isZero();
        assertThat(help.lines()).allMatch(line -> line.length() <= 110);
        for (String command : List.of("ls", "show", "watch", "wait", "release", "completion")) {
            assertThat(help.out()).containsPattern("\\n  " + command + " +[A-Z]");
            assertThat(Program.run(command, "--help").out()).contains("Exit codes:", "--json");
        }
        for (ExitCode code : ExitCode.values()) {
            assertThat(help.out()).containsPattern("\\n  " + code.code + " +" + code.meaning.substring(0, 15));
        }
        for (Scheme scheme : Scheme.values()) {
            assertThat(help.out()).contains("  " + scheme.example, scheme.store);
        }
    }

    @Test
    void theVersionIsPrinted() {
        Ended version = Program.run("--version");

        assertThat(version.out()).startsWith("reactive-lock ");
        assertThat(version.code()).isZero();
    }

    @Test
    void theCompletionKnowsEveryCommandAndOption() {
        Ended completion = Program.run("completion");

        assertThat(completion.out())
                .contains("complete -F _complete_reactive-lock", "--ask-password", "--at-most", "--force", "release");
        assertThat(completion.code()).isZero();
    }
}
