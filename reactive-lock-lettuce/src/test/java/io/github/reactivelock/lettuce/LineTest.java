package io.github.reactivelock.lettuce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.lettuce.core.RedisClient;
import io.netty.util.Version;
import java.util.Map;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;

/** The build runs these tests on more than one line of versions; this shows that each is the one it says. */
class LineTest {

    @Test
    void theTestsRunOnTheVersionsThatTheBuildNames() {
        Map<String, String> found = Map.of(
                "lettuce", implementation(RedisClient.class),
                "netty", Version.identify().get("netty-common").artifactVersion(),
                "reactor", implementation(Flux.class));
        assumeTrue(System.getProperty("reactivelock.line.lettuce") != null, "run by Maven only, which knows the line");

        found.forEach((library, version) ->
                assertThat(version).as(library).isEqualTo(System.getProperty("reactivelock.line." + library, version)));
    }

    private static String implementation(Class<?> type) {
        // Lettuce puts the commit behind it.
        return type.getPackage().getImplementationVersion().split("/", 2)[0];
    }
}
