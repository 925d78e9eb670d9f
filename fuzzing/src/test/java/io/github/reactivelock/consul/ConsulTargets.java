package io.github.reactivelock.consul;

import static io.github.reactivelock.fuzzing.Target.must;
import static io.github.reactivelock.fuzzing.Target.read;
import static io.github.reactivelock.fuzzing.Target.readAddress;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.github.reactivelock.fuzzing.Target;
import io.github.reactivelock.spi.queue.QueuePosition;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import tools.jackson.core.JacksonException;

/** Bodies of Consul's answers, and addresses of agents. */
public final class ConsulTargets {

    private static final KeyLayout NAMES = new KeyLayout("p");

    private ConsulTargets() {}

    public static List<Target> all() {
        String entry = "{\"LockIndex\":1,\"Key\":\"p/k/you\",\"Flags\":0,\"Value\":\"YSAx\",\"Session\":\"s\","
                + "\"CreateIndex\":5,\"ModifyIndex\":5}";
        return List.of(
                Target.of(
                        "entries of Consul",
                        ConsulTargets::entries,
                        "[" + entry + "]",
                        "[" + entry.replace("\"Flags\":0", "\"Flags\":6442450943") + "]",
                        "[\"p/k/\"]",
                        "[1,2]"),
                Target.of(
                        "a transaction of Consul",
                        text -> answer(() -> Json.outcome(text)),
                        "{\"Results\":[{\"KV\":" + entry + "}],\"Errors\":null}",
                        "{\"Results\":[1],\"Errors\":[{\"OpIndex\":0,\"What\":\"no\"}]}"),
                Target.of(
                        "a session of Consul",
                        text -> answer(() -> Json.sessionId(text)),
                        "{\"ID\":\"adf4238a\"}",
                        "{\"ID\":[]}"),
                Target.of("names of Consul", ConsulTargets::names, "[\"p/a~2F/\",\"p/!client\"]"),
                Target.of(
                        "an agent's address",
                        text -> readAddress(() -> new Agents(text, null, ConsulBackendOptions.defaults()), text),
                        "localhost:8500",
                        "http://u:s3cr3t@host,https://[::1]:1/",
                        "http://u:s3cr3t@ho st",
                        "u:s3cr3t@host:8500"));
    }

    /** What Consul does not say is refused as text that is no JSON or not of its form. */
    @CanIgnoreReturnValue
    private static <T> T answer(Supplier<T> read) {
        try {
            return read(read, IllegalStateException.class);
        } catch (JacksonException e) {
            return null;
        }
    }

    private static void entries(String text) {
        List<Entry> found = answer(() -> Json.entries(text));
        if (found == null) {
            return;
        }
        List<Entry> keys = new ArrayList<>(found);
        keys.removeIf(key -> key.created() == 7 || key.claimId().equals("me"));
        boolean anyBefore = keys.stream().anyMatch(key -> !key.session().isEmpty() && key.created() < 7);
        keys.forEach(key -> Target.use(key.content()));
        keys.add(new Entry("p/k/me", 7, 7, 1, "mine", 0, ""));
        QueuePosition<Entry> position = Entry.queue(keys).position("me");
        must(position.own() != null && position.isIn() == !anyBefore, "a grant out of garbage");
    }

    private static void names(String text) {
        List<String> found = answer(() -> Json.names(text));
        if (found != null) {
            found.forEach(name -> Target.use(NAMES.key(name)));
        }
    }
}
