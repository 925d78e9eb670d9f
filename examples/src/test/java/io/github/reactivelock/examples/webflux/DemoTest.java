package io.github.reactivelock.examples.webflux;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.examples.RunningExample;
import org.junit.jupiter.api.Test;

class DemoTest {

    @Test
    void theDemoSellsEveryOrderOnceThoughAnInstanceIsKilled() throws Exception {
        RunningExample demo = RunningExample.run(WebFlux.class, "--demo", "--port", "0");

        assertThat(demo.exit()).as(demo.text()).isZero();
        assertThat(demo.output()).anyMatch(line -> line.startsWith("orders=15 sold=15 lost=0 handovers="));
        assertThat(demo.text()).contains("shop-1", "shop-2").contains("hangs up and leaves the line");
        assertThat(demo.text())
                .containsSubsequence("kill -9 shop-1, which holds coffee", "coffee goes on at shop-2")
                .doesNotContain("\tat ");
        assertThat(demo.output().get(demo.output().size() - 1))
                .matches("killed=1 before=\\d after=10 of=10 restarted=1");
    }

    @Test
    void aPortThatIsNoneIsNamedTogetherWithItsRange() throws Exception {
        RunningExample demo = RunningExample.run(WebFlux.class, "--port", "70000");

        assertThat(demo.exit()).as(demo.text()).isEqualTo(2);
        assertThat(demo.text()).contains("--port must be 0 to 65535 but is 70000");
    }
}
