package io.github.reactivelock.consul;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.testkit.ThreadLoaders;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

class OpeningTest extends Fixture {

    static final class Opener implements Function<String, LockBackend> {
        @Override
        public LockBackend apply(String agents) {
            return ConsulLockBackend.connect(agents, Consuls.patient());
        }
    }

    @Test
    void theBackendSaysWhichStoreItIsAndNoSecret() {
        assertThat(ConsulLockBackend.connect(
                        "a.example:8500,b.example:8500",
                        ConsulBackendOptions.defaults().withPrefix("team/locks").withToken("s3cret")))
                .hasToString("Consul at http://a.example:8500,http://b.example:8500, prefix team/locks");
    }

    @Test
    void noThreadInheritsAContextClassLoader() throws Exception {
        ThreadLoaders.assertOwn(Opener.class, server.uri());
    }
}
