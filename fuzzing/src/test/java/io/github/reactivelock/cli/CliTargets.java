package io.github.reactivelock.cli;

import static io.github.reactivelock.fuzzing.Target.must;
import static io.github.reactivelock.fuzzing.Target.readAddress;

import io.github.reactivelock.fuzzing.Target;
import io.github.reactivelock.spi.support.StoreUrl;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** Arguments, a line each, and the URLs of stores. */
public final class CliTargets {

    private CliTargets() {}

    public static List<Target> all() {
        return List.of(
                Target.of(
                        "a store's URL",
                        CliTargets::url,
                        "redis://user:s3cr3t@localhost:6379/0",
                        "r2dbc:postgresql://u:s3cr3t@h/db?x=1&password=s3cr3t#f",
                        "redis-sentinel://a:1,b:2/0#main",
                        "redis://u:%zz@h"),
                Target.of(
                        "arguments",
                        CliTargets::arguments,
                        "list\n--store\nredis://h\n--json",
                        "wait\nkey\n--timeout\n10s",
                        "release\nkey\n--token=7\n--yes",
                        "@x\n-v"));
    }

    private static void url(String text) {
        StoreUrl url = readAddress(() -> StoreUrl.parse(text), text);
        if (url == null) {
            return;
        }
        Target.use(url.eachHost(), url.behindHosts());
        readAddress(() -> Scheme.of(url), text);
        must(!Target.hasSecret(text) || !url.toString().contains(Target.SECRET), "no secret for people");
        String own = url.text(url.name(), url.hosts());
        if (url.user() != null && url.password() != null) {
            must(StoreUrl.parse(own).equals(url), "the same URL when it is read again");
        }
    }

    private static void arguments(String text) {
        CommandLine program = ReactiveLock.in(new Environment(Map.of(), () -> "", task -> {}));
        try {
            program.parseArgs(text.split("\n", 20));
        } catch (ParameterException e) {
            must(e.getMessage() != null, "it says why");
        }
    }
}
