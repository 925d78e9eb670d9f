package io.github.reactivelock.vertx;

import static io.github.reactivelock.fuzzing.Target.readAddress;

import io.github.reactivelock.fuzzing.Target;
import java.util.List;

/** Connection strings. */
public final class VertxTargets {

    private VertxTargets() {}

    public static List<Target> all() {
        return List.of(Target.of(
                "a connection string",
                text -> {
                    Endpoint endpoint = readAddress(() -> Endpoint.of(text), text);
                    Target.must(
                            endpoint == null
                                    || !Target.hasSecret(text)
                                    || text.startsWith("unix")
                                    || !endpoint.server().contains(Target.SECRET),
                            "no secret in a name");
                },
                "redis://user:s3cr3t@host:6379/3",
                "unix:///run/redis.sock?db=3",
                "rediss://:s3cr3t@[::1]/x"));
    }
}
